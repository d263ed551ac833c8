"""What runs on hosts: JDKs, databases and load generators, as folders on the controller."""

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
        """The folder that is installed on a host."""

    @property
    def java(self) -> Path:
        """The program, below `home`."""

    @property
    def version(self) -> str:
        """As the program itself says."""


class ArtefactSource(Protocol):
    """Resolves artefacts, verified by checksum. Every method raises ArtefactError for what can't be had."""

    def jdk(self, jdk_id: str, archive: JdkArchive | None = None) -> Jdk:
        """The JDK of a definition's name for it, such as `openjdk-11.0.13`; from that archive where one is given."""

    def collectors(self, jdk_id: str, archive: JdkArchive | None = None) -> Collection[str]:
        """Names of the collectors that this JDK really has, asked of its `java`."""

    def refusal(self, flags: Sequence[str], jdk_id: str, archive: JdkArchive | None = None) -> str:
        """What this JDK says against such JVM flags, asked of its `java`; empty where it takes them."""

    def unasked(self, flags: Sequence[str]) -> Sequence[str]:
        """Those of the flags that `refusal` leaves out: only a node's host can judge them, since they name files."""

    def database(self, product: str, version: str) -> Path:
        """A folder with the jars of a database and what they need."""

    def load_generator(self) -> Path:
        """A folder with the jars of Plimsoll's own load generator."""

    def cassandra_stress(self) -> Path:
        """A folder with the jars of cassandra-stress, Cassandra's own load generator, and what they need."""

    def node_tool(self) -> Path:
        """A folder with the jars of what asks Cassandra nodes how they are."""

    def prepare(self, definition: Definition) -> None:
        """Fetch, verify by content and build everything that the definition's cells need."""

    def missing(self, definition: Definition) -> Sequence[Problem]:
        """What the definition's cells need and is not here yet; fetches nothing."""

    def derived(self, key: str, build: Callable[[Path], None]) -> Path:
        """A folder of something made from artefacts: `build` fills it, once for each key, which names every input."""
