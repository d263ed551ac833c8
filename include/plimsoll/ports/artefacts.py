"""The software for hosts: JDKs, databases and load generators, as folders on the controller."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal, Protocol

from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.keys.variant import Archive, Download
from plimsoll.domain.text.errors import Problem

OWN_JDK = "openjdk-11.0.13"
"""The JDK of the node tool, of the compiler, and of load generators that others have released for it, whatever the
variant's. Most nodes have it anyway."""
LOAD_JDK = "openjdk-21.0.8"
"""The JDK of Plimsoll's own load generator, whatever the variant's: what is compared differs in the database only. It
is the newest to be had that HBase's client runs on: from 24 on, Hadoop 3.4.2 can't ask who is logged in."""

MOST_FETCH_S = 7200.0
"""The longest time that fetching one archive may take, s."""


def how_to_fetch(name: str) -> str:
    """Return the advice for what is not in the cache, to people who have that definition.

    The definition is named, since `make setup` fetches only the artefacts of definitions in the folder.
    """
    return f"fetch it first: `plimsoll prepare {name}`, or the definition's file in place of its name"


def content_digest(checksums: Mapping[str, str]) -> str:
    """Return the digest of files by their paths and sha256, which names a folder on hosts and an archive in a store."""
    return sha256(json.dumps(sorted(checksums.items())).encode()).hexdigest()


@dataclass(frozen=True)
class ReleaseProgram:
    """A Java program that is published only within a product's release.

    `lock`: the name of the lock file of the release's archive; `folders`: those of the archive that have the program's
    jars; `replaced`: the beginning of the names of its jars that newer ones of Plimsoll's own load generator replace.
    """

    name: str
    product: str
    lock: str
    folders: tuple[str, ...]
    replaced: str


OwnProgramName = Literal["load-generator", "load-generator-for-hbase", "node-tool"]
"""Plimsoll's own load generator, with a class path for each protocol, or its node tool."""
Program = OwnProgramName | ReleaseProgram
"""A Java program beside the databases."""


def jdk_of(program: Program) -> str:
    return LOAD_JDK if program in ("load-generator", "load-generator-for-hbase") else OWN_JDK


class Jdk(Protocol):
    """A JDK or JRE."""

    @property
    def home(self) -> Path:
        """Return the folder to install on a host."""

    @property
    def java(self) -> Path:
        """Return the path of the `java` program, relative to `home`."""

    @property
    def version(self) -> str:
        """Return the version that the `java` program reports."""


class ProgramSource(Protocol):
    """A source of programs, verified by checksum. Every method raises ArtefactError for a program that can't be had.

    Load generators get only this port, so they can't ask for databases, which each database's own adapter does.
    """

    def jdk(self, jdk_id: str, archive: Archive | None = None) -> Jdk:
        """Return the JDK with that name, such as `openjdk-11.0.13`; from the given archive if there is one."""

    def unpacked(self, archive: Archive, program: str, *, thorough: bool = False) -> Path:
        """Return the folder of the unpacked archive in which a program is found, such as `libexec/scylla`.

        The archive is one that a definition names, and is fetched if necessary. `thorough`: verify what is here already
        by its content.
        """

    def has_archive(self, archive: Archive) -> bool:
        """Tell whether the archive is here already. Fetches nothing."""

    def program(self, program: Program) -> Path:
        """Return a folder with the jars of the program and its dependencies."""

    def prepare_program(self, program: Program) -> None:
        """Fetch, verify by content and build the program, and the JDK that it runs on."""

    def missing_of_program(self, program: Program, where: str, name: str) -> Sequence[Problem]:
        """Return the parts of the program that are not here yet. Fetches nothing.

        `where`: the key of the definition that the program is needed for; `name`: the definition's own.
        """

    def downloads_of_program(self, program: Program) -> Sequence[Download]:
        """Return the program and its JDK, as they are downloaded, here already or not. Fetches nothing."""


class ArtefactSource(ProgramSource, Protocol):
    """A source of databases and their JDKs, too."""

    def collectors(self, jdk_id: str, archive: Archive | None = None) -> Collection[str]:
        """Return the names of the garbage collectors that this JDK really has, as its `java` reports them."""

    def refusal(self, flags: Sequence[str], jdk_id: str, archive: Archive | None = None) -> str:
        """Return the error of this JDK's `java` about these JVM flags; empty where it accepts them."""

    def unasked(self, flags: Sequence[str], jdk_id: str, archive: Archive | None = None) -> Sequence[str]:
        """Return the flags that `refusal` does not test, as they might write a file, open a port or load code here."""

    def database(self, product: str, version: str) -> Path:
        """Return a folder with the jars of a database and its dependencies."""

    def prepare_variants(self, variants: Sequence[VariantSpec]) -> None:
        """Fetch and verify by content the databases and JDKs of these variants."""

    def missing_of_variants(self, variants: Sequence[VariantSpec], name: str) -> Sequence[Problem]:
        """Return databases and JDKs of variants that are not here yet. Fetches none. `name`: their definition's."""

    def downloads_of_variants(self, variants: Sequence[VariantSpec]) -> Sequence[Download]:
        """Return the databases and JDKs of variants, as they are downloaded, here already or not. Fetches nothing."""
