"""Artefacts by the names that definitions use, and the downloads of a definition's software, with sizes by the lock
files.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from plimsoll.adapters.artefacts import archives as archives_of
from plimsoll.adapters.artefacts import jdks, jvm_traits
from plimsoll.adapters.artefacts.archives import Archives
from plimsoll.adapters.artefacts.cache import Cache, faulty, is_sound
from plimsoll.adapters.artefacts.java_programs import (
    Sources,
    built,
    load_generator,
    load_generator_for_hbase,
    node_tool,
)
from plimsoll.adapters.artefacts.jdks import ChosenJdk, Jdk
from plimsoll.adapters.artefacts.locks import LockedSet, database_versions, locked_jdks, locked_set
from plimsoll.adapters.artefacts.maven import entry_of, jar_folder
from plimsoll.adapters.artefacts.release_programs import is_there, release, release_jars, size_bytes
from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.keys.origins import Download
from plimsoll.domain.keys.variant import Archive, Collector
from plimsoll.domain.text.errors import ArtefactError, Problem
from plimsoll.ports.artefacts import OWN_JDK, Program, ReleaseProgram, how_to_fetch, jdk_of
from plimsoll.ports.log import Log


def of_jdk(cache: Cache, wanted: ChosenJdk) -> Iterator[Download]:
    """Yield the download of a JDK; nothing for one that no registry has and nobody gave."""
    name, locked = f"JDK {wanted.id}", locked_jdks().get(wanted.id)
    if wanted.archive is not None:
        yield Download(
            name=f"{name} from the archive that the variant names",
            size_bytes=None,
            is_there=archives_of.is_there(cache, wanted.archive),
        )
    elif jdks.can_be_fetched(wanted.id) or jdks.is_there(cache, wanted.id):
        size = locked.size_bytes if locked else None
        yield Download(name=name, size_bytes=size, is_there=jdks.is_there(cache, wanted.id))


def _of_set(cache: Cache, name: str, title: str, *, is_there: bool = False) -> Iterator[Download]:
    """Yield the download of a set of jars that has a lock file; `is_there`: whether what is made of it is there."""
    if locked := locked_set(name):
        there = is_there or not faulty(cache.root / entry_of(locked), locked.checksums)
        yield Download(name=title, size_bytes=locked.size_bytes, is_there=there)


class Artefacts:
    """An implementation of the ArtefactSource port. Artefacts are downloaded once, verified, and cached.

    `cache` is a folder outside the checkout; `log` receives lines for a person who waits. All methods are safe for
    several processes at once, need no network where the cache is full, and raise ArtefactError.
    """

    def __init__(
        self, cache: Path, log: Log, *, sources: Sources | None = None, archives: Archives | None = None
    ) -> None:
        self._cache, self._archives = Cache(cache, log), archives or Archives()
        programs = (load_generator(sources), load_generator_for_hbase(sources), node_tool())
        self._own = {program.entry_name: program for program in programs}

    def jdk(self, jdk_id: str, archive: Archive | None = None) -> Jdk:
        return jdks.archived(self._cache, ChosenJdk(jdk_id, archive), self._archives)

    def collectors(self, jdk_id: str, archive: Archive | None = None) -> frozenset[Collector]:
        return jvm_traits.collectors(self._cache, self.jdk(jdk_id, archive))

    def refusal(self, flags: Sequence[str], jdk_id: str, archive: Archive | None = None) -> str:
        return jvm_traits.refusal(self._cache, self.jdk(jdk_id, archive), flags)

    def unasked(self, flags: Sequence[str], jdk_id: str, archive: Archive | None = None) -> list[str]:
        return jvm_traits.unasked(self._cache, self.jdk(jdk_id, archive), flags)

    def database(self, product: str, version: str) -> Path:
        """Return a folder of jars, to be used as class path `folder/*`."""
        return jar_folder(self._cache, _database(product, version))

    def unpacked(self, archive: Archive, program: str, *, thorough: bool = False) -> Path:
        return archives_of.unpacked(self._cache, archive, program, self._archives, thorough=thorough)

    def has_archive(self, archive: Archive) -> bool:
        return archives_of.is_there(self._cache, archive)

    def program(self, program: Program, *, thorough: bool = False) -> Path:
        if isinstance(program, ReleaseProgram):
            return release_jars(self._cache, program, thorough=thorough)
        return built(self._cache, self._own[program], thorough=thorough)

    def prepare_variants(self, variants: Sequence[VariantSpec]) -> None:
        for wanted in _jdks(variants):
            jdks.archived(self._cache, wanted, self._archives, thorough=True)
            self.collectors(wanted.id, wanted.archive)
        for product, version in _databases(variants):
            jar_folder(self._cache, _database(product, version), thorough=True)

    def missing_of_variants(self, variants: Sequence[VariantSpec], name: str) -> list[Problem]:
        return [*self._missing_jdks(variants, name), *self._missing_databases(variants, name)]

    def prepare_program(self, program: Program) -> None:
        jdks.jdk(self._cache, jdk_of(program), thorough=True)
        self.program(program, thorough=True)

    def missing_of_program(self, program: Program, where: str, name: str) -> list[Problem]:
        lacks = self._lacks(program)
        return [Problem(where, lacks, how_to_fetch(name))] if lacks else []

    def downloads_of_variants(self, variants: Sequence[VariantSpec]) -> list[Download]:
        downloads = [download for wanted in _jdks(variants) for download in of_jdk(self._cache, wanted)]
        for product, version in _databases(variants):
            downloads += _of_set(self._cache, f"{product}-{version}", f"{product} {version}")
        return downloads

    def downloads_of_program(self, program: Program) -> list[Download]:
        cache, runs_on = self._cache, jdk_of(program)
        if isinstance(program, ReleaseProgram):
            title = f"{program.name}, in the release of {program.product} {release(program)}"
            download = Download(name=title, size_bytes=size_bytes(program), is_there=is_there(cache, program))
            return [*of_jdk(cache, ChosenJdk(runs_on)), download]
        own = self._own[program]
        is_built = is_sound(cache.root / own.entry())
        # It is compiled from its downloads, by a JDK that may be another than the one it runs on
        needed = dict.fromkeys([runs_on, *([] if is_built else [OWN_JDK])])
        of_jdks = [of_jdk(cache, ChosenJdk(jdk_id)) for jdk_id in needed]
        of_sets = [_of_set(cache, name, title, is_there=is_built) for name, title in own.library_sets.items()]
        return list(chain(*of_jdks, *of_sets))

    def _lacks(self, program: Program) -> str:
        """Name what a program needs and the cache lacks; empty where nothing is missing."""
        if isinstance(program, ReleaseProgram):
            if not is_there(self._cache, program):
                return f"{program.name} is not in the cache"
        elif not is_sound(self._cache.root / self._own[program].entry()):
            return f"Plimsoll's own {self._own[program].name} is not built"
        jdk = jdk_of(program)
        return "" if jdks.is_there(self._cache, jdk) else f"its JDK {jdk} is not in the cache"

    def _missing_jdks(self, variants: Sequence[VariantSpec], name: str) -> Iterator[Problem]:
        for wanted, ids in _jdks(variants).items():
            where = f"variants.{ids[0]}.jvm"
            jdk = f"JDK {wanted.id} of {'variant' if len(ids) == 1 else 'variants'} {', '.join(ids)}"
            if wanted.archive is not None:
                if not self.has_archive(wanted.archive):
                    yield Problem(f"{where}.archive", f"{jdk} is not in the cache", how_to_fetch(name))
            elif not jdks.is_there(self._cache, wanted.id):
                can_be_fetched = jdks.can_be_fetched(wanted.id)
                what = f"{jdk} is not in the cache" if can_be_fetched else f"{jdk} can't be fetched"
                mend = how_to_fetch(name) if can_be_fetched else jdks.how_to_give(self._cache, wanted.id)
                yield Problem(f"{where}.jdk", what, mend)

    def _missing_databases(self, variants: Sequence[VariantSpec], name: str) -> Iterator[Problem]:
        for (product, version), where in _databases(variants).items():
            locked = locked_set(f"{product}-{version}")
            if locked is None:
                yield Problem(where, f"{product} {version} can't be fetched", _known(product, version))
            elif faulty(self._cache.root / entry_of(locked), locked.checksums):
                yield Problem(where, f"{product} {version} is not in the cache", how_to_fetch(name))


def _database(product: str, version: str) -> LockedSet:
    locked = locked_set(f"{product}-{version}")
    if locked is None:
        raise ArtefactError(f"{product} {version} can't be fetched", where=product, mend=_known(product, version))
    return locked


def _known(product: str, version: str) -> str:
    known = ", ".join(database_versions(product))
    make = f"make a lock file for it: `python -m plimsoll.adapters.artefacts.lock {product}-{version}`"
    return f"name one of {known}, or {make}" if known else f"let the adapter of {product} bring its software itself"


def _jdks(variants: Sequence[VariantSpec]) -> dict[ChosenJdk, list[str]]:
    """Return each JDK with the variants that use it."""
    chosen: dict[ChosenJdk, list[str]] = {}
    on_jvms = [(spec.variant.id, spec.variant.jvm) for spec in variants if spec.variant.jvm]
    for variant_id, jvm in sorted(on_jvms, key=lambda named: named[1].jdk):
        chosen.setdefault(ChosenJdk(jvm.jdk, jvm.archive), []).append(variant_id)
    return chosen


def _databases(variants: Sequence[VariantSpec]) -> dict[tuple[str, str], str]:
    """Return each release, sorted, with the key that names it: at the first variant with it, or at the system.

    A variant with an archive needs none.
    """
    of_releases = [spec for spec in variants if spec.variant.archive is None]
    keys = {(spec.product, spec.version): spec.version_key for spec in reversed(of_releases)}
    return dict(sorted(keys.items()))
