"""Plimsoll's own Java programs: each is compiled once from its sources, into a folder with the jars that it needs,
then installed on hosts and started there.
"""

import hashlib
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plimsoll.adapters.artefacts.cache import Cache, sha256
from plimsoll.adapters.artefacts.jdks import jdk
from plimsoll.adapters.artefacts.locks import LockedSet, locked_set
from plimsoll.adapters.artefacts.maven import jar_folder
from plimsoll.adapters.artefacts.web import run_java
from plimsoll.domain.text.errors import ArtefactError
from plimsoll.places import shipped
from plimsoll.ports.artefacts import OWN_JDK, Jdk, ProgramSource
from plimsoll.ports.host import Host

_FOR_CQL, _FOR_HBASE, _COMPILER = "load-generator", "load-generator-for-hbase", "ecj"
_TITLES = {
    _FOR_CQL: "libraries of Plimsoll's own Java programs",
    _FOR_HBASE: "libraries of Plimsoll's load generator for HBase",
    _COMPILER: "Eclipse's Java compiler",
}
"""The lock files that programs are compiled from, with their names for people."""
# A part of the entry's name: with another number programs are built again from the same sources
_RECIPE = "2"
# The earliest time that a zip file can hold
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Sources:
    """The folder of Java sources and resources, packages as folders."""

    folder: Path

    def files(self) -> tuple[Path, ...]:
        """Return all files, sorted. Raises ArtefactError where there is none."""
        files = tuple(sorted(path for path in self.folder.rglob("*") if path.is_file()))
        if not files:
            mend = "install Plimsoll again: its wheel contains them"
            raise ArtefactError("the Java sources are not there", where=str(self.folder), mend=mend)
        return files

    def digest(self) -> str:
        """Return a digest that identifies this state of the sources."""
        parts = [f"{path.relative_to(self.folder)} {sha256(path)}" for path in self.files()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True)
class JavaProgram:
    """A program of this repository. `package` contains its class `Main`; `name` is for people and for the cache.

    `libraries`: the lock file of its class path. Of the sources it has those that `Main` needs.
    """

    name: str
    package: str
    sources: Sources
    libraries: str = _FOR_CQL

    @property
    def entry_name(self) -> str:
        """Tell how names of entries in the cache begin: `load-generator`."""
        return self.name.replace(" ", "-").lower()

    @property
    def library_sets(self) -> dict[str, str]:
        """Return the lock files that the program is compiled from, with their names for people."""
        return {name: _TITLES[name] for name in (self.libraries, _COMPILER)}

    def entry(self) -> str:
        """Return the entry in the cache, which depends on the sources, libraries and compiler."""
        sets = [_locked(name) for name in self.library_sets]
        checksums = [checksum for locked in sets for checksum in sorted(locked.checksums.values())]
        parts = [_RECIPE, OWN_JDK, self.sources.digest(), *checksums]
        return f"derived/{self.entry_name}-{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Installation:
    """The paths of a program's artefacts on its host."""

    java: PurePosixPath
    jars: tuple[PurePosixPath, ...]


def install(host: Host, jdk: Jdk, jars: Path) -> Installation:
    """Copy the artefacts to the host if they are not there yet. Returns their paths there."""
    home = host.install(jdk.home)
    folder = host.install(jars)
    # Sorted by name, because the order of files in a directory differs from host to host.
    names = sorted(jar.name for jar in jars.glob("*.jar"))
    return Installation(java=home / jdk.java.relative_to(jdk.home), jars=tuple(folder / name for name in names))


@dataclass(frozen=True)
class OwnProgram:
    """A program: its main class, the folder with its jars, and the JDK that it runs on."""

    main: str
    bundle: Path
    jdk: str

    def argv(self, artefacts: ProgramSource, host: Host, *arguments: str, jvm: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the command that runs it on that host, after installing it there. Raises ArtefactError."""
        installation = install(host, artefacts.jdk(self.jdk), self.bundle)
        return (str(installation.java), *jvm, "-cp", ":".join(map(str, installation.jars)), self.main, *arguments)


def load_generator(sources: Sources | None = None) -> JavaProgram:
    """Return the load generator, compiled from the shipped sources or from the given ones."""
    return JavaProgram("load generator", "plimsoll.stress", sources or Sources(shipped("stress") / "src"))


def load_generator_for_hbase(sources: Sources | None = None) -> JavaProgram:
    """Return the load generator whose clients speak HBase's protocol, from the same sources."""
    own = sources or Sources(shipped("stress") / "src")
    return JavaProgram("load generator for HBase", "plimsoll.stress.hbase", own, _FOR_HBASE)


def node_tool() -> JavaProgram:
    """Return the program that asks nodes for their state."""
    return JavaProgram("node tool", "plimsoll.nodes", Sources(shipped("nodes") / "src"))


def built(cache: Cache, program: JavaProgram, *, thorough: bool = False) -> Path:
    """Return the folder with the program's jar and its libraries. Compiles it if necessary. Raises ArtefactError."""
    entry = program.entry()
    return cache.sealed(entry, lambda content: _build(cache, program, content, entry), thorough=thorough)


def _build(cache: Cache, program: JavaProgram, content: Path, entry: str) -> None:
    libraries = sorted(jar_folder(cache, _locked(program.libraries)).glob("*.jar"))
    cache.log(f"compiling the {program.name}")
    classes = content.parent / "classes"
    _compile(cache, program, libraries, classes)
    for library in libraries:
        try:  # a link where the disk allows it, as every change of a source makes a new folder
            (content / library.name).hardlink_to(library)
        except OSError:
            shutil.copyfile(library, content / library.name)
    # `plimsoll.stress` → `plimsoll-stress.jar`
    jar = content / f"{program.package.replace('.', '-')}.jar"
    _pack(program, classes, jar, version=entry.rpartition("-")[2])


def _compile(cache: Cache, program: JavaProgram, libraries: Sequence[Path], classes: Path) -> None:
    """Compile with Eclipse's compiler, because the Java runtime has none."""
    compiler = next(jar_folder(cache, _locked(_COMPILER)).glob("ecj-*.jar"))
    class_path = ":".join(str(library) for library in libraries)
    # The node tool runs on OWN_JDK, which is Java 11
    options = ["-11", "-encoding", "UTF-8", "-proc:none", "-nowarn", "-g", "-cp", class_path, "-d", str(classes)]
    java, sources = jdk(cache, OWN_JDK).java, program.sources.folder
    main = sources.joinpath(*program.package.split("."), "Main.java")
    ended = run_java(java, "-jar", str(compiler), *options, "-sourcepath", str(sources), str(main))
    if ended.exit_code != 0:
        what = f"the {program.name} does not compile:\n{ended.output}"
        raise ArtefactError(what, where=str(sources), mend="mend the source that the compiler names")


def _pack(program: JavaProgram, classes: Path, jar: Path, *, version: str) -> None:
    """Pack the classes into a jar. Equal inputs give an equal file: fixed order, fixed times."""
    manifest = f"Manifest-Version: 1.0\nMain-Class: {program.package}.Main\nImplementation-Version: {version}\n\n"
    resources = [path for path in program.sources.files() if path.suffix != ".java"]
    members = [(path, path.relative_to(classes)) for path in sorted(classes.rglob("*.class"))]
    members += [(path, path.relative_to(program.sources.folder)) for path in resources]
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF", _EPOCH), manifest)
        for path, name in members:
            archive.writestr(zipfile.ZipInfo(name.as_posix(), _EPOCH), path.read_bytes())


def _locked(name: str) -> LockedSet:
    locked = locked_set(name)
    if locked is None:
        mend = f"make it: `python -m plimsoll.adapters.artefacts.lock {name}`"
        raise ArtefactError(f"there is no lock file for {name}", where=name, mend=mend)
    return locked
