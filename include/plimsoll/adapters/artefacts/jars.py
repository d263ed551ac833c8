"""A locked set of jars as a folder of the cache."""

import hashlib
from pathlib import Path

from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.checksums import faulty
from plimsoll.adapters.artefacts.locks import LockedJar, LockedSet
from plimsoll.adapters.artefacts.maven import fetch
from plimsoll.domain.plurals import plural

_MB = 1_000_000


def entry_of(locked: LockedSet) -> str:
    """Return the set's entry in the cache.

    A changed lock file gives a new entry, so programs that run from the old one are safe.
    """
    digest = hashlib.sha256("".join(sorted(locked.checksums.values())).encode()).hexdigest()
    return f"jars/{locked.name}-{digest[:8]}"


def jar_folder(cache: Cache, locked: LockedSet, *, thorough: bool = False) -> Path:
    """Return the folder with every jar of the set, verified.

    Downloads missing and damaged ones. Raises ArtefactError.
    """
    entry = entry_of(locked)
    folder = cache.root / entry
    if faulty(folder, locked.checksums, thorough=thorough):
        with cache.alone(entry), cache.unfinished(entry) as scratch:
            _fill(cache, locked, folder, scratch)
    return folder


def _fill(cache: Cache, locked: LockedSet, folder: Path, scratch: Path) -> None:
    """Download the jars. Each is renamed into place, so that an interrupted download keeps the completed ones."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = faulty(folder, locked.checksums)
    wanted = [jar for jar in locked.jars if jar.name in missing]
    if not wanted:
        return
    cache.log(f"fetching {locked.name}: {_amount(wanted)}")
    for count, (jar, path) in enumerate(fetch(wanted, scratch), start=1):
        path.replace(folder / jar.name)
        if count % 20 == 0:
            cache.log(f"  {count} of {len(wanted)} jars are there")
    faulty(folder, locked.checksums)
    cache.log(f"{locked.name} is ready: {_amount(locked.jars)}")


def _amount(jars: list[LockedJar] | tuple[LockedJar, ...]) -> str:
    size = sum(jar.size_bytes for jar in jars)
    return f"{plural(len(jars), 'jar')}, {size / _MB:.0f} MB"
