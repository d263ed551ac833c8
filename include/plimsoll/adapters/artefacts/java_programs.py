"""Java programs that are installed on hosts and started there, each in a folder with the jars that it needs. Plimsoll's
own are compiled once from their sources; others are taken, with their libraries, from the archive of a release.
"""

import hashlib
import shutil
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plimsoll.adapters.artefacts.archives import unpack_tar
from plimsoll.adapters.artefacts.cache import Cache, sha256
from plimsoll.adapters.artefacts.jdks import jdk
from plimsoll.adapters.artefacts.maven import LockedJar, LockedSet, fetch, jar_folder, locked_set
from plimsoll.adapters.artefacts.web import run_java
from plimsoll.domain.text.errors import ArtefactError
from plimsoll.places import shipped
from plimsoll.ports.artefacts import OWN_JDK, Jdk, Program, ProgramSource, ReleaseProgram, jdk_of
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
# A part of the entry's name: with another number programs are taken from the same archives again
_RELEASE_RECIPE = "1"
_MOST_RELEASE_BYTES = 1 << 30
# The earliest time that a zip file can hold
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class JavaProgram:
    """A program of this repository. `package` contains its class `Main`; `name` is for people and for the cache.

    `sources`: the folder of Java sources and resources, packages as folders; of these it has those that `Main` needs.
    `libraries`: the lock file of its class path.
    """

    name: str
    package: str
    sources: Path
    libraries: str = _FOR_CQL

    @property
    def entry_name(self) -> str:
        """Tell how names of entries in the cache begin: `load-generator`."""
        return self.name.replace(" ", "-").lower()

    @property
    def library_sets(self) -> dict[str, str]:
        """Return the lock files that the program is compiled from, with their names for people."""
        return {name: _TITLES[name] for name in (self.libraries, _COMPILER)}

    def files(self) -> tuple[Path, ...]:
        """Return all files of the sources, sorted. Raises ArtefactError where there is none."""
        files = tuple(sorted(path for path in self.sources.rglob("*") if path.is_file()))
        if not files:
            mend = "install Plimsoll again: its wheel contains them"
            raise ArtefactError("the Java sources are not there", where=str(self.sources), mend=mend)
        return files

    def entry(self) -> str:
        """Return the entry in the cache, which depends on the sources, libraries and compiler."""
        state = "\n".join(f"{path.relative_to(self.sources)} {sha256(path)}" for path in self.files())
        sets = [_locked(name) for name in self.library_sets]
        checksums = [checksum for locked in sets for checksum in sorted(locked.checksums.values())]
        parts = [_RECIPE, OWN_JDK, hashlib.sha256(state.encode()).hexdigest(), *checksums]
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


def java_argv(
    artefacts: ProgramSource, program: Program, main: str, host: Host, *arguments: str, jvm: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the command that runs the main class of a program on that host, after installing it there with its JDK.

    Raises ArtefactError.
    """
    installation = install(host, artefacts.jdk(jdk_of(program)), artefacts.program(program))
    return (str(installation.java), *jvm, "-cp", ":".join(map(str, installation.jars)), main, *arguments)


def load_generator(sources: Path | None = None) -> JavaProgram:
    """Return the load generator, compiled from the shipped sources or from those in the given folder."""
    return JavaProgram("load generator", "plimsoll.stress", sources or shipped("stress") / "src")


def load_generator_for_hbase(sources: Path | None = None) -> JavaProgram:
    """Return the load generator whose clients speak HBase's protocol, from the same sources."""
    own = sources or shipped("stress") / "src"
    return JavaProgram("load generator for HBase", "plimsoll.stress.hbase", own, _FOR_HBASE)


def node_tool() -> JavaProgram:
    """Return the program that asks nodes for their state."""
    return JavaProgram("node tool", "plimsoll.nodes", shipped("nodes") / "src")


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
    java, sources = jdk(cache, OWN_JDK).java, program.sources
    main = sources.joinpath(*program.package.split("."), "Main.java")
    ended = run_java(java, "-jar", str(compiler), *options, "-sourcepath", str(sources), str(main))
    if ended.exit_code != 0:
        what = f"the {program.name} does not compile:\n{ended.output}"
        raise ArtefactError(what, where=str(sources), mend="mend the source that the compiler names")


def _pack(program: JavaProgram, classes: Path, jar: Path, *, version: str) -> None:
    """Pack the classes into a jar. Equal inputs give an equal file: fixed order, fixed times."""
    manifest = f"Manifest-Version: 1.0\nMain-Class: {program.package}.Main\nImplementation-Version: {version}\n\n"
    resources = [path for path in program.files() if path.suffix != ".java"]
    members = [(path, path.relative_to(classes)) for path in sorted(classes.rglob("*.class"))]
    members += [(path, path.relative_to(program.sources)) for path in resources]
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


def release_jars(cache: Cache, program: ReleaseProgram, *, thorough: bool = False) -> Path:
    """Return the folder with every jar of the program. Downloads what is missing. Raises ArtefactError."""
    return cache.sealed(release_entry(program), lambda folder: _fill(cache, program, folder), thorough=thorough)


def release_of(program: ReleaseProgram) -> str:
    """Return the release that the program belongs to: `4.0-alpha2`."""
    return _archive(program).coordinates.split(":")[2]


def release_bytes(program: ReleaseProgram) -> int:
    """Return the size of what is downloaded, bytes."""
    return sum(jar.size_bytes for jar in (_archive(program), *_newer(program)))


def _archive(program: ReleaseProgram) -> LockedJar:
    return _locked(program.lock).jars[0]


def release_entry(program: ReleaseProgram) -> str:
    """Return the entry in the cache, which depends on the archive and on the libraries that replace its own."""
    checksums = " ".join([_RELEASE_RECIPE, _archive(program).sha256, *(jar.sha256 for jar in _newer(program))])
    digest = hashlib.sha256(checksums.encode()).hexdigest()[:8]
    return f"derived/{program.lock}-{release_of(program)}-{digest}"


def _newer(program: ReleaseProgram) -> tuple[LockedJar, ...]:
    """Return the libraries of Plimsoll's own load generator that replace the release's."""
    return tuple(jar for jar in _locked(_FOR_CQL).jars if jar.name.startswith(program.replaced))


def _fill(cache: Cache, program: ReleaseProgram, folder: Path) -> None:
    """Take the program's jars, and the newer ones, into one folder. Nothing else of the release is needed."""
    archive, release = _archive(program), folder.parent / "release"
    cache.log(f"fetching {archive.name}: {archive.size_bytes / 1_000_000:.0f} MB")
    files = dict(fetch([archive, *_newer(program)], folder.parent / "download"))
    try:
        unpack_tar(files.pop(archive), release, _MOST_RELEASE_BYTES)
    except tarfile.TarError as error:
        mend = "remove it from the cache, then try again"
        raise ArtefactError(f"it can't be unpacked: {error}", where=archive.name, mend=mend) from error
    taken = (jar for part in program.folders for jar in sorted(release.glob(f"*/{part}/*.jar")))
    names = {jar: jar.name for jar in taken if not jar.name.startswith(program.replaced)}
    for file, name in {**names, **{file: jar.name for jar, file in files.items()}}.items():
        shutil.copyfile(file, folder / name)
