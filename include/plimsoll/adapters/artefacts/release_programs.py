"""Programs and their libraries, taken from the archive of a product's release."""

import hashlib
import shutil
import tarfile
from pathlib import Path, PurePosixPath

from plimsoll.adapters.artefacts.cache import Cache, is_sound
from plimsoll.adapters.artefacts.locks import LockedJar, locked_set
from plimsoll.adapters.artefacts.maven import fetch
from plimsoll.adapters.artefacts.tarballs import damage_as_tar_error
from plimsoll.domain.errors import ArtefactError
from plimsoll.ports.artefacts import ReleaseProgram

_RECIPE = "1"
_MOST_BYTES = 200_000_000


def release_jars(cache: Cache, program: ReleaseProgram, *, thorough: bool = False) -> Path:
    """Return the folder with every jar of the program. Downloads what is missing.

    Raises ArtefactError.
    """
    return cache.sealed(_entry(program), lambda folder: _fill(cache, program, folder), thorough=thorough)


def release(program: ReleaseProgram) -> str:
    """Return the release that the program belongs to: `4.0-alpha2`."""
    return _archive(program).coordinates.split(":")[2]


def size_bytes(program: ReleaseProgram) -> int:
    """Return the size of what is downloaded, bytes."""
    return sum(jar.size_bytes for jar in (_archive(program), *_newer(program)))


def is_there(cache: Cache, program: ReleaseProgram) -> bool:
    """Tell whether the program is in the cache, complete."""
    return is_sound(cache.root / _entry(program))


def _archive(program: ReleaseProgram) -> LockedJar:
    locked = locked_set(program.lock)
    assert locked is not None, "its lock file lies in the repository"
    return locked.jars[0]


def _entry(program: ReleaseProgram) -> str:
    checksums = " ".join([_RECIPE, _archive(program).sha256, *(jar.sha256 for jar in _newer(program))])
    digest = hashlib.sha256(checksums.encode()).hexdigest()[:8]
    return f"derived/{program.lock}-{release(program)}-{digest}"


def _newer(program: ReleaseProgram) -> tuple[LockedJar, ...]:
    """Return the libraries of Plimsoll's own load generator that replace the release's."""
    locked = locked_set("load-generator")
    return tuple(jar for jar in (locked.jars if locked else ()) if jar.name.startswith(program.replaced))


def _fill(cache: Cache, program: ReleaseProgram, folder: Path) -> None:
    archive = _archive(program)
    cache.log(f"fetching {archive.name}: {archive.size_bytes / 1_000_000:.0f} MB")
    for wanted, file in fetch([archive, *_newer(program)], folder.parent / "download"):
        if wanted == archive:
            _unpack(file, archive.name, program, folder)
        else:
            shutil.copyfile(file, folder / wanted.name)


def _unpack(packed: Path, name: str, program: ReleaseProgram, folder: Path) -> None:
    try:
        with damage_as_tar_error(), tarfile.open(packed) as tar:
            _take_jars(tar, program, folder)
    except tarfile.TarError as error:
        mend = "remove it from the cache, then try again"
        raise ArtefactError(f"it can't be unpacked: {error}", where=name, mend=mend) from error


def _take_jars(tar: tarfile.TarFile, program: ReleaseProgram, folder: Path) -> None:
    """Copy the program's jars into one folder. Nothing else of the release is needed."""
    size = 0
    for member in tar:
        path = PurePosixPath(member.name)
        is_jar = member.isfile() and path.suffix == ".jar" and "/".join(path.parts[1:-1]) in program.folders
        content = tar.extractfile(member) if is_jar else None
        if content is None or path.name.startswith(program.replaced):
            continue
        size += member.size
        if size > _MOST_BYTES:
            raise ArtefactError("it holds more than a release does", where=str(tar.name), mend="check the lock file")
        (folder / path.name).write_bytes(content.read())
