"""The software for hosts: JDKs, databases and load generators, as folders on the controller."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.variant import JdkArchive

OWN_JDK = "openjdk-11.0.13"
"""The JDK of Plimsoll's own Java programs and of load generators, whatever the variant's: what is compared differs in
the database only."""


class Jdk(Protocol):
    """A JDK or JRE."""

    @property
    def home(self) -> Path:
        """The folder to install on a host."""

    @property
    def java(self) -> Path:
        """The path of the `java` program, relative to `home`."""

    @property
    def version(self) -> str:
        """The version that the `java` program reports."""


class ArtefactSource(Protocol):
    """Provides artefacts, verified by checksum. Every method raises ArtefactError for one that can't be had."""

    def jdk(self, jdk_id: str, archive: JdkArchive | None = None) -> Jdk:
        """The JDK with that name, such as `openjdk-11.0.13`; from the given archive if there is one."""

    def collectors(self, jdk_id: str, archive: JdkArchive | None = None) -> Collection[str]:
        """The names of the garbage collectors that this JDK really has, as its `java` reports them."""

    def refusal(self, flags: Sequence[str], jdk_id: str, archive: JdkArchive | None = None) -> str:
        """The error of this JDK's `java` about these JVM flags; empty where it accepts them."""

    def unasked(self, flags: Sequence[str]) -> Sequence[str]:
        """The flags that `refusal` does not test. They name files, so only a node's host can test them."""

    def database(self, product: str, version: str) -> Path:
        """A folder with the jars of a database and its dependencies."""

    def load_generator(self) -> Path:
        """A folder with the jars of Plimsoll's own load generator."""

    def cassandra_stress(self) -> Path:
        """A folder with the jars of cassandra-stress, Cassandra's own load generator, and its dependencies."""

    def node_tool(self) -> Path:
        """A folder with the jars of the program that asks Cassandra nodes for their state."""

    def prepare(self, definition: Definition) -> None:
        """Fetch, verify by content and build everything that the definition's cells need."""

    def missing(self, definition: Definition) -> Sequence[Problem]:
        """The artefacts that the definition's cells need and that are not here yet. Fetches nothing."""

    def derived(self, key: str, build: Callable[[Path], None]) -> Path:
        """A folder of files made from artefacts. `build` fills it once for each key; the key must name every input."""
