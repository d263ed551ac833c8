"""Artefacts that are empty files with the right names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.keys.variant import Archive, Download
from plimsoll.domain.text.errors import ArtefactError, Problem
from plimsoll.ports.artefacts import LOAD_JDK, OWN_JDK, Program, ReleaseProgram

HINTS = "inline org.apache.cassandra.utils.Something::fast ()V\n"


@dataclass(frozen=True)
class EmptyJdk:
    """A home with a `java` that nobody runs."""

    home: Path
    java: Path
    version: str


class EmptyArtefacts:
    """Implements ArtefactSource for Plimsoll's own two JDKs and databases of these versions; all else can't be had."""

    def __init__(self, folder: Path, versions: Collection[str] = ("4.0.1",)) -> None:
        self._folder, self._versions = folder, versions
        self.prepared: list[Program] = []
        """The programs that somebody had prepared."""

    def jdk(self, jdk_id: str, archive: Archive | None = None) -> EmptyJdk:
        """Return one of both JDKs."""
        if jdk_id not in (OWN_JDK, LOAD_JDK):
            raise ArtefactError(f"there is no JDK {jdk_id}", mend="use openjdk-11.0.13")
        home = self._folder / jdk_id
        java = home / "runtime" / "bin" / "java"
        if not java.exists():
            java.parent.mkdir(parents=True, exist_ok=True)
            java.touch()
        return EmptyJdk(home=home, java=java, version=f"{jdk_id.removeprefix('openjdk-')}+8")

    def collectors(self, jdk_id: str, archive: Archive | None = None) -> Collection[str]:
        """Return all but C4."""
        self.jdk(jdk_id)
        return ("G1", "CMS", "Shenandoah", "ZGC", "Parallel", "Serial")

    def refusal(self, flags: Sequence[str], jdk_id: str, archive: Archive | None = None) -> str:
        """Refuse no flag but `-XX:NoSuchFlag`."""
        return "Unrecognized VM option 'NoSuchFlag'" if "-XX:NoSuchFlag" in flags else ""

    def prepare_variants(self, variants: Sequence[VariantSpec]) -> None:
        """Do nothing, because all of them are made on request."""

    def prepare_program(self, program: Program) -> None:
        """Note that the program was prepared. It is made on request."""
        self.prepared.append(program)

    def missing_of_program(self, program: Program, where: str, name: str) -> Sequence[Problem]:
        """Return no problem."""
        return ()

    def downloads_of_program(self, program: Program) -> Sequence[Download]:
        """Return one download of 53 MB, which is still to come."""
        return [Download(name=str(program), size_bytes=53_000_000, is_there=False)]

    def downloads_of_variants(self, variants: Sequence[VariantSpec]) -> Sequence[Download]:
        """Return no download, because every version is here."""
        versions = sorted({one.version for one in variants})
        return [Download(name=f"cassandra {version}", size_bytes=40_000_000, is_there=True) for version in versions]

    def unasked(self, flags: Sequence[str], jdk_id: str, archive: Archive | None = None) -> Sequence[str]:
        """Return the flags of agents."""
        return [flag for flag in flags if flag.startswith("-javaagent")]

    def database(self, product: str, version: str) -> Path:
        """Return three jars; Cassandra's own holds the compiler's hints."""
        if version not in self._versions:
            raise ArtefactError(f"{product} {version} can't be had", mend="use 4.0.1")
        folder = self._jars(f"{product}-{version}", "jamm-0.3.2.jar", "guava-27.0-jre.jar")
        own = folder / f"cassandra-all-{version}.jar"
        if not own.exists():
            with ZipFile(own, "w") as jar:
                jar.writestr("META-INF/hotspot_compiler", HINTS)
        return folder

    def unpacked(self, archive: Archive, program: str, *, thorough: bool = False) -> Path:
        """Return a folder with that program as an empty file; of a build of Cassandra as one of 4.0.1.

        Archives whose digest begins with `ff` hold nothing.
        """
        if archive.sha256.startswith("ff"):
            raise ArtefactError(f"there is no {program} in it", where=archive.url, mend="check the `archive`")
        home = self._folder / archive.sha256
        place = home / program.replace("[0-9]*", "4.0.1")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
        return home

    def has_archive(self, archive: Archive) -> bool:
        """Tell whether the archive is here: all but those whose digest begins with zeros."""
        return not archive.sha256.startswith("00")

    def program(self, program: Program) -> Path:
        """Return one jar of Plimsoll's own programs, two of others."""
        if isinstance(program, ReleaseProgram):
            return self._jars(program.name, "stress.jar", "guava-27.0-jre.jar")
        name = {"load-generator": "stress", "load-generator-for-hbase": "stress-hbase", "node-tool": "nodes"}[program]
        return self._jars(name, f"plimsoll-{name}.jar")

    def missing_of_variants(self, variants: Sequence[VariantSpec], name: str) -> Sequence[Problem]:
        """Return every other JDK, every other version."""
        jdks = {jvm.jdk for one in variants if (jvm := one.variant.jvm)} - {"openjdk-11.0.13"}
        versions = {one.version for one in variants} - {*self._versions}
        found = [Problem("jvm.jdk", f"there is no JDK {jdk}", "use openjdk-11.0.13") for jdk in sorted(jdks)]
        return [*found, *(Problem("system.version", f"{version} can't be had", "use 4.0.1") for version in versions)]

    def _jars(self, name: str, *jars: str) -> Path:
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        for jar in jars:
            if not (folder / jar).exists():
                (folder / jar).touch()
        return folder
