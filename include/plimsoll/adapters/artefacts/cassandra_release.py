"""cassandra-stress and its libraries, taken from a Cassandra release's tarball: they are not published separately."""

import hashlib
import shutil
import tarfile
from pathlib import Path, PurePosixPath

from plimsoll.adapters.artefacts.cache import Cache, is_sound
from plimsoll.adapters.artefacts.locks import LockedJar, locked_set
from plimsoll.adapters.artefacts.maven import fetch
from plimsoll.adapters.artefacts.tarballs import damage_as_tar_error
from plimsoll.domain.errors import ArtefactError

CASSANDRA_STRESS = "cassandra-stress"
"""The name of the load generator in definitions."""

_LOCK = "stress-of-cassandra"
_RECIPE = "1"
_HISTOGRAMS = "HdrHistogram-"
"""The beginning of the name of the release's own HdrHistogram, which needs a class that JDKs lack since 11. A newer jar
replaces it.
"""
_FOLDERS = ("lib", "tools/lib")
_MOST_BYTES = 200_000_000


def release_jars(cache: Cache, *, thorough: bool = False) -> Path:
    """Return the folder with every jar of the release, including stress.jar. Downloads what is missing.

    Raises ArtefactError.
    """
    return cache.sealed(_entry(), lambda folder: _fill(cache, folder), thorough=thorough)


def release() -> str:
    """Return the Cassandra release that cassandra-stress belongs to: `4.0-alpha2`."""
    return _archive().coordinates.split(":")[2]


def size_bytes() -> int:
    """Return the size of what is downloaded, bytes."""
    return sum(jar.size_bytes for jar in (_archive(), *_newer()))


def is_there(cache: Cache) -> bool:
    """Tell whether the release is in the cache, complete."""
    return is_sound(cache.root / _entry())


def _archive() -> LockedJar:
    locked = locked_set(_LOCK)
    assert locked is not None, "its lock file lies in the repository"
    return locked.jars[0]


def _entry() -> str:
    checksums = " ".join([_RECIPE, _archive().sha256, *(jar.sha256 for jar in _newer())])
    return f"derived/{_LOCK}-{release()}-{hashlib.sha256(checksums.encode()).hexdigest()[:8]}"


def _newer() -> tuple[LockedJar, ...]:
    """Return the HdrHistogram library of Plimsoll's own load generator, which replaces the release's."""
    locked = locked_set("load-generator")
    return tuple(jar for jar in (locked.jars if locked else ()) if jar.name.startswith(_HISTOGRAMS))


def _fill(cache: Cache, folder: Path) -> None:
    archive = _archive()
    cache.log(f"fetching {archive.name}: {archive.size_bytes / 1_000_000:.0f} MB")
    for wanted, file in fetch([archive, *_newer()], folder.parent / "download"):
        if wanted == archive:
            _unpack(file, archive.name, folder)
        else:
            shutil.copyfile(file, folder / wanted.name)


def _unpack(packed: Path, name: str, folder: Path) -> None:
    try:
        with damage_as_tar_error(), tarfile.open(packed) as tar:
            _take_jars(tar, folder)
    except tarfile.TarError as error:
        mend = "remove it from the cache, then try again"
        raise ArtefactError(f"it can't be unpacked: {error}", where=name, mend=mend) from error


def _take_jars(tar: tarfile.TarFile, folder: Path) -> None:
    """Copy the jars of the release and of its tools into one folder. Nothing else of the release is needed."""
    size = 0
    for member in tar:
        path = PurePosixPath(member.name)
        is_jar = member.isfile() and path.suffix == ".jar" and "/".join(path.parts[1:-1]) in _FOLDERS
        content = tar.extractfile(member) if is_jar else None
        if content is None or path.name.startswith(_HISTOGRAMS):
            continue
        size += member.size
        if size > _MOST_BYTES:
            raise ArtefactError("it holds more than a release does", where=str(tar.name), mend="check the lock file")
        (folder / path.name).write_bytes(content.read())
