"""Name the downloads of a definition's software, with sizes by the lock files, and tell which are there already."""

from collections.abc import Iterable, Iterator

from plimsoll.adapters.artefacts import archives, jdks
from plimsoll.adapters.artefacts.cache import Cache, faulty, is_sound
from plimsoll.adapters.artefacts.java_programs import JavaProgram
from plimsoll.adapters.artefacts.jdks import ChosenJdk
from plimsoll.adapters.artefacts.locks import LockedSet, locked_jdks, locked_set
from plimsoll.adapters.artefacts.maven import entry_of
from plimsoll.adapters.artefacts.release_programs import is_there, release, size_bytes
from plimsoll.domain.download import Download
from plimsoll.ports.artefacts import OWN_JDK, ReleaseProgram, jdk_of


def of_jdk(cache: Cache, wanted: ChosenJdk) -> Iterator[Download]:
    """Yield the download of a JDK; nothing for one that no registry has and nobody gave."""
    name, locked = f"JDK {wanted.id}", locked_jdks().get(wanted.id)
    if wanted.archive is not None:
        there = archives.is_there(cache, wanted.archive)
        yield Download(name=f"{name} from the archive that the variant names", size_bytes=None, is_there=there)
    elif jdks.can_be_fetched(wanted.id) or jdks.is_there(cache, wanted.id):
        size = locked.size_bytes if locked else None
        yield Download(name=name, size_bytes=size, is_there=jdks.is_there(cache, wanted.id))


def of_databases(cache: Cache, releases: Iterable[tuple[str, str]]) -> Iterator[Download]:
    """Yield the downloads of databases, each a product and a version, that have a lock file."""
    for product, version in releases:
        if locked := locked_set(f"{product}-{version}"):
            yield _of_set(cache, locked, f"{product} {version}", is_there=False)


def of_own_program(cache: Cache, program: JavaProgram, runs_on: str) -> Iterator[Download]:
    """Yield the downloads of one of Plimsoll's own Java programs, which is compiled from them, and of its JDK, which
    may be another than the compiler's.
    """
    is_built = is_sound(cache.root / program.entry())
    for jdk_id in dict.fromkeys([runs_on, *([] if is_built else [OWN_JDK])]):
        yield from of_jdk(cache, ChosenJdk(jdk_id))
    for name, title in program.library_sets.items():
        if locked := locked_set(name):
            yield _of_set(cache, locked, title, is_there=is_built)


def of_release_program(cache: Cache, program: ReleaseProgram) -> Iterator[Download]:
    """Yield the download of a program that is a part of a product's release, and of its JDK."""
    yield from of_jdk(cache, ChosenJdk(jdk_of(program)))
    title = f"{program.name}, in the release of {program.product} {release(program)}"
    yield Download(name=title, size_bytes=size_bytes(program), is_there=is_there(cache, program))


def _of_set(cache: Cache, locked: LockedSet, title: str, *, is_there: bool) -> Download:
    """Return the download of a set of jars; `is_there`: whether what is made of it is therealready."""
    there = is_there or not faulty(cache.root / entry_of(locked), locked.checksums)
    return Download(name=title, size_bytes=locked.size_bytes, is_there=there)
