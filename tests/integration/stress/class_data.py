"""The generator's classes in an archive, as nodes have theirs: half of what a short run of it takes is reading them."""

import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from plimsoll.settings import Settings

_TIMEOUT_S = 120
_NOBODY = "127.255.255.253"
_RUN = ("plimsoll.stress.Main", "run", "BasicTimeSeries", "--host", _NOBODY, "-d", "1s", "--rate", "1")
"""It loads all that is loaded up to the first connection, and ends."""


def shared_classes(java: Path, jars: Sequence[Path], flags: Sequence[str]) -> Path:
    """The archive for that JVM and that class path, made once on a machine; with other ones a JVM leaves it aside."""
    folder = Settings().cache / "tests" / "classes"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{_digest(java, jars, flags)}.jsa"
    with FileLock(folder / "lock"):
        if not archive.exists():
            for old in folder.glob("*.jsa"):
                old.unlink()
            _make(archive, [str(java), *flags], ":".join(map(str, jars)))
    return archive


def _make(archive: Path, start: list[str], class_path: str) -> None:
    names, partial = archive.with_suffix(".names"), archive.with_suffix(".partial")
    recording = ["-Xshare:off", f"-XX:DumpLoadedClassList={names}", "-cp", class_path, *_RUN]
    subprocess.run([*start, *recording], check=False, capture_output=True, timeout=_TIMEOUT_S)
    making = ["-Xshare:dump", f"-XX:SharedClassListFile={names}", f"-XX:SharedArchiveFile={partial}", "-cp", class_path]
    subprocess.run([*start, *making], check=True, capture_output=True, timeout=_TIMEOUT_S)
    names.unlink()
    partial.rename(archive)


def _digest(java: Path, jars: Sequence[Path], flags: Sequence[str]) -> str:
    """Of everything that the JVM compares before it uses the archive."""
    parts = [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in (java, *jars)]
    return sha256("\n".join([*parts, *flags, *_RUN]).encode()).hexdigest()[:16]
