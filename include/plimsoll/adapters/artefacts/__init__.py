"""JDKs, databases and the load generator: downloaded, verified by checksum, built, and kept for later use. Here are
artefacts by the names that definitions use, and the downloads of a definition's software, with sizes by the lock files.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from plimsoll.adapters.artefacts import archives as archives_of
from plimsoll.adapters.artefacts import jdks, jvm_traits
from plimsoll.adapters.artefacts.archives import Archives
from plimsoll.adapters.artefacts.cache import Cache, faulty, is_sound
from plimsoll.adapters.artefacts.java_programs import (
    built,
    load_generator,
    load_generator_for_hbase,
    node_tool,
    release_bytes,
    release_entry,
    release_jars,
    release_of,
)
from plimsoll.adapters.artefacts.jdks import Jdk
from plimsoll.adapters.artefacts.maven import LockedSet, database_versions, jar_folder, locked_set
from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.keys.variant import Archive, Collector, Download
from plimsoll.domain.text.errors import ArtefactError, Problem
from plimsoll.ports.artefacts import OWN_JDK, Program, ReleaseProgram, how_to_fetch, jdk_of
from plimsoll.ports.controller import Log

__all__ = ["Archives", "Artefacts"]


class Artefacts:
    """An implementation of the ArtefactSource port. Artefacts are downloaded once, verified, and cached.

    `cache` is a folder outside the checkout; `log` receives lines for a person who waits. All methods are safe for
    several processes at once, need no network where the cache is full, and raise ArtefactError.
    """

    def __init__(self, cache: Path, log: Log, *, sources: Path | None = None, archives: Archives | None = None) -> None:
        self._cache, self._archives = Cache(cache, log), archives or Archives()
        programs = (load_generator(sources), load_generator_for_hbase(sources), node_tool())
        self._own = {program.entry_name: program for program in programs}

    def jdk(self, jdk_id: str, archive: Archive | None = None, *, thorough: bool = False) -> Jdk:
        if archive is None:
            return jdks.jdk(self._cache, jdk_id, thorough=thorough)
        return jdks.described(self._cache, jdk_id, self.unpacked(archive, "bin/java", thorough=thorough))

    def collectors(self, jdk_id: str, archive: Archive | None = None) -> frozenset[Collector]:
        return jvm_traits.collectors(self._cache, self.jdk(jdk_id, archive))

    def refusal(self, flags: Sequence[str], jdk_id: str, archive: Archive | None = None) -> str:
        return jvm_traits.refusal(self._cache, self.jdk(jdk_id, archive), flags)

    def unasked(self, flags: Sequence[str], jdk_id: str, archive: Archive | None = None) -> list[str]:
        return jvm_traits.unasked(self._cache, self.jdk(jdk_id, archive), flags)

    def database(self, product: str, version: str) -> Path:
        """Return the folder of jars, to be used as class path `folder/*`."""
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
        for jdk_id, archive in _jdks(variants):
            self.jdk(jdk_id, archive, thorough=True)
            self.collectors(jdk_id, archive)
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
        downloads = [download for jdk in _jdks(variants) for download in self._of_jdk(*jdk)]
        for product, version in _databases(variants):
            downloads += self._of_set(f"{product}-{version}", f"{product} {version}")
        return downloads

    def downloads_of_program(self, program: Program) -> list[Download]:
        runs_on = jdk_of(program)
        if isinstance(program, ReleaseProgram):
            title = f"{program.name}, in the release of {program.product} {release_of(program)}"
            download = Download(name=title, size_bytes=release_bytes(program), is_there=self._has(program))
            return [*self._of_jdk(runs_on), download]
        own, is_built = self._own[program], self._has(program)
        # It is compiled from its downloads, by a JDK that may be another than the one it runs on
        needed = dict.fromkeys([runs_on, *([] if is_built else [OWN_JDK])])
        of_sets = [self._of_set(name, title, is_there=is_built) for name, title in own.library_sets.items()]
        return list(chain(*map(self._of_jdk, needed), *of_sets))

    def _of_jdk(self, jdk_id: str, archive: Archive | None = None) -> Iterator[Download]:
        """Yield the download of a JDK; nothing for one that no registry has and nobody gave."""
        name, locked = f"JDK {jdk_id}", jdks.locked_jdks().get(jdk_id)
        if archive is not None:
            name = f"{name} from the archive that the variant names"
            yield Download(name=name, size_bytes=None, is_there=self.has_archive(archive))
        elif (there := jdks.is_there(self._cache, jdk_id)) or jdks.can_be_fetched(jdk_id):
            yield Download(name=name, size_bytes=locked.size_bytes if locked else None, is_there=there)

    def _of_set(self, name: str, title: str, *, is_there: bool = False) -> Iterator[Download]:
        """Yield the download of a set of jars that has a lock file; `is_there`: whether what is made of it is there."""
        if locked := locked_set(name):
            there = is_there or not faulty(self._cache.root / locked.entry, locked.checksums)
            yield Download(name=title, size_bytes=locked.size_bytes, is_there=there)

    def _has(self, program: Program) -> bool:
        """Tell whether the program is in the cache, complete."""
        entry = release_entry(program) if isinstance(program, ReleaseProgram) else self._own[program].entry()
        return is_sound(self._cache.root / entry)

    def _lacks(self, program: Program) -> str:
        """Name what a program needs and the cache lacks; empty where nothing is missing."""
        if not self._has(program):
            if isinstance(program, ReleaseProgram):
                return f"{program.name} is not in the cache"
            return f"Plimsoll's own {self._own[program].name} is not built"
        jdk = jdk_of(program)
        return "" if jdks.is_there(self._cache, jdk) else f"its JDK {jdk} is not in the cache"

    def _missing_jdks(self, variants: Sequence[VariantSpec], name: str) -> Iterator[Problem]:
        for (jdk_id, archive), ids in _jdks(variants).items():
            where = f"variants.{ids[0]}.jvm"
            jdk = f"JDK {jdk_id} of {'variant' if len(ids) == 1 else 'variants'} {', '.join(ids)}"
            if archive is not None:
                if not self.has_archive(archive):
                    yield Problem(f"{where}.archive", f"{jdk} is not in the cache", how_to_fetch(name))
            elif not jdks.is_there(self._cache, jdk_id):
                can_be_fetched = jdks.can_be_fetched(jdk_id)
                what = f"{jdk} is not in the cache" if can_be_fetched else f"{jdk} can't be fetched"
                mend = how_to_fetch(name) if can_be_fetched else jdks.how_to_give(self._cache, jdk_id)
                yield Problem(f"{where}.jdk", what, mend)

    def _missing_databases(self, variants: Sequence[VariantSpec], name: str) -> Iterator[Problem]:
        for (product, version), where in _databases(variants).items():
            locked = locked_set(f"{product}-{version}")
            if locked is None:
                yield Problem(where, f"{product} {version} can't be fetched", _known(product, version))
            elif faulty(self._cache.root / locked.entry, locked.checksums):
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


def _jdks(variants: Sequence[VariantSpec]) -> dict[tuple[str, Archive | None], list[str]]:
    """Return each JDK, by its id and the archive that brings it, with the variants that use it."""
    chosen: dict[tuple[str, Archive | None], list[str]] = {}
    on_jvms = [(spec.variant.id, spec.variant.jvm) for spec in variants if spec.variant.jvm]
    for variant_id, jvm in sorted(on_jvms, key=lambda named: named[1].jdk):
        chosen.setdefault((jvm.jdk, jvm.archive), []).append(variant_id)
    return chosen


def _databases(variants: Sequence[VariantSpec]) -> dict[tuple[str, str], str]:
    """Return each release, sorted, with the key that names it: at the first variant with it, or at the system.

    A variant with an archive needs none.
    """
    of_releases = [spec for spec in variants if spec.variant.archive is None]
    keys = {(spec.product, spec.version): spec.version_key for spec in reversed(of_releases)}
    return dict(sorted(keys.items()))
