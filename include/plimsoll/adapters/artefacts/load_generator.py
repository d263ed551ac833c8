"""Plimsoll's own load generator: compiled from its sources once, into a folder with the jars that it needs."""

import hashlib
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.checksums import sha256
from plimsoll.adapters.artefacts.jars import jar_folder
from plimsoll.adapters.artefacts.jdks import jdk
from plimsoll.adapters.artefacts.locks import LockedSet, locked_set
from plimsoll.adapters.artefacts.processes import run_java
from plimsoll.domain.errors import ArtefactError

JAR = "plimsoll-stress.jar"
JDK_ID = "openjdk-11.0.13"
_MAIN_CLASS = "plimsoll.stress.Main"
_RECIPE = "1"
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Sources:
    """The folder of Java sources and resources, packages as folders."""

    folder: Path

    def files(self) -> tuple[Path, ...]:
        """All of them, sorted. ArtefactError where there is none."""
        found = tuple(sorted(path for path in self.folder.rglob("*") if path.is_file()))
        if not found:
            raise ArtefactError(
                "the load generator's sources are not there",
                where=str(self.folder),
                mend="run Plimsoll from a checkout of its repository: include/stress lies beside include/plimsoll",
            )
        return found

    def digest(self) -> str:
        """Names this state of the sources."""
        parts = [f"{path.relative_to(self.folder)} {sha256(path)}" for path in self.files()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def beside_package() -> Sources:
    """The repository's: include/stress/src, a sibling of the package's folder."""
    return Sources(Path(__file__).resolve().parents[3] / "stress" / "src")


def entry_of(sources: Sources) -> str:
    """The generator's place in the cache: another state of sources, libraries or compiler is another place."""
    sets = [_locked("load-generator"), _locked("ecj")]
    checksums = [checksum for locked in sets for checksum in sorted(locked.checksums.values())]
    parts = [_RECIPE, JDK_ID, sources.digest(), *checksums]
    return f"derived/load-generator-{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:12]}"


def load_generator(cache: Cache, sources: Sources, *, thorough: bool = False) -> Path:
    """The folder with the generator's jar and its libraries, compiled if need be. ArtefactError."""
    entry = entry_of(sources)
    return cache.sealed(entry, lambda content: _build(cache, sources, content, entry), thorough=thorough)


def _build(cache: Cache, sources: Sources, content: Path, entry: str) -> None:
    libraries = sorted(jar_folder(cache, _locked("load-generator")).glob("*.jar"))
    cache.log("compiling the load generator")
    classes = content.parent / "classes"
    _compile(cache, sources, libraries, classes)
    for library in libraries:
        _place(library, content / library.name)
    _pack(sources, classes, content / JAR, version=entry.rpartition("-")[2])


def _place(library: Path, name: Path) -> None:
    """A second name for the same file where the disk knows such: every change of a source makes a folder like this."""
    try:
        name.hardlink_to(library)
    except OSError:
        shutil.copyfile(library, name)


def _compile(cache: Cache, sources: Sources, libraries: Sequence[Path], classes: Path) -> None:
    """With Eclipse's compiler: the runtime has none of its own."""
    compiler = next(jar_folder(cache, _locked("ecj")).glob("ecj-*.jar"))
    class_path = ":".join(str(library) for library in libraries)
    options = ["-11", "-encoding", "UTF-8", "-proc:none", "-nowarn", "-g", "-cp", class_path, "-d", str(classes)]
    java = jdk(cache, JDK_ID).java
    files = [str(path) for path in sources.files() if path.suffix == ".java"]
    ended = run_java(java, "-jar", str(compiler), *options, *files)
    if ended.exit_code != 0:
        raise ArtefactError(
            f"the load generator does not compile:\n{ended.output}",
            where=str(sources.folder),
            mend="mend the source that the compiler names",
        )


def _pack(sources: Sources, classes: Path, jar: Path, *, version: str) -> None:
    """Equal inputs give an equal file: fixed order, fixed times."""
    manifest = f"Manifest-Version: 1.0\nMain-Class: {_MAIN_CLASS}\nImplementation-Version: {version}\n\n"
    resources = [path for path in sources.files() if path.suffix != ".java"]
    compiled = sorted(classes.rglob("*.class"))
    members = [(path, path.relative_to(classes)) for path in compiled]
    members += [(path, path.relative_to(sources.folder)) for path in resources]
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF", _EPOCH), manifest)
        for path, name in members:
            archive.writestr(zipfile.ZipInfo(name.as_posix(), _EPOCH), path.read_bytes())


def _locked(name: str) -> LockedSet:
    locked = locked_set(name)
    if locked is None:
        raise ArtefactError(
            f"there is no lock file for {name}",
            where=name,
            mend=f"make it: `python -m plimsoll.adapters.artefacts.lock {name}`",
        )
    return locked
