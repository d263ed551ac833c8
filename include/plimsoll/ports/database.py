"""A database product on the hosts of a cluster."""

from collections.abc import Mapping, Sequence
from datetime import timedelta, tzinfo
from pathlib import PurePosixPath
from typing import Protocol, runtime_checkable

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.fingerprint import NodeFingerprint
from plimsoll.domain.leftover_work import LeftoverWork
from plimsoll.domain.log_events import Event, EventKind, LogLine
from plimsoll.domain.process import Process
from plimsoll.domain.variant import Variant
from plimsoll.ports.host import Host


class Database(Protocol):
    """Deploys one database product, watches its nodes, and describes them."""

    name: str
    ports: Sequence[int]
    """The TCP ports on which every node listens, each at an address of its own."""
    kinds: Sequence[EventKind]
    """The kinds of `events`."""

    def check(self, definition: Definition) -> Sequence[Problem]:
        """Return all problems that keep the definition's variants of this product from running.

        Examples: missing artefacts, a JVM that the product can't use, a garbage collector that a JDK does not have.
        """

    def unchecked(self, definition: Definition) -> Sequence[str]:
        """Return sentences about facts that `check` could not test from here, such as flags of a JDK that is
        not here.
        """

    def prepare(self, definition: Definition) -> None:
        """Make in advance what cells of this product would otherwise wait for. Idempotent. Raises ArtefactError."""

    def deploy(
        self, definition: Definition, variant: Variant, nodes: Sequence[Host], load: Host, expires: timedelta
    ) -> None:
        """Install, configure and start the database; wait until all nodes are up and agree on the schema. Idempotent.

        The nodes end by themselves after `expires`, whatever happens to the process that owns them. Raises DeployError.
        """

    def processes(self, variant: Variant) -> Sequence[Process]:
        """Return the programs that the product runs on each node. Pure: asked again whenever an attempt is judged."""

    def fingerprint(self, variant: Variant, nodes: Sequence[Host], load: Host) -> Sequence[NodeFingerprint]:
        """Return the real environment of each node and its processes, with the facts of those JVMs that they run in."""

    def hides_leftover_work(self, definition: Definition, variant: Variant) -> bool:
        """Tell whether clients, and so load generators, can't ask nodes for the work that populating left."""

    def leftover_work(self, nodes: Sequence[Host]) -> LeftoverWork | None:
        """Return the outcome of waiting until nodes have finished the work that populating left, within the adapter's
        limit.

        The first call begins to wait. None while the wait lasts. Never blocks.
        """

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return a sentence with the end of its log for each node that is not running; empty while all run."""

    def files(self, node: Host) -> Mapping[str, Sequence[PurePosixPath]]:
        """Return the paths of logs, GC logs and configuration to keep, on that node, by the name of their process."""

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:
        """Return entries of a process's collected log about work that may delay operations.

        `zone`: the time zone of the log. Pure.
        """

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:
        """Return the lines with a time in a process's collected log. `zone`: the time zone of the log. Pure."""


@runtime_checkable
class MeasuredDatabase(Database, Protocol):
    """A database that tells what rows take on its disks."""

    def bytes_on_disk(self, nodes: Sequence[Host], keyspace: str) -> Mapping[str, int]:
        """Measure the bytes that a keyspace takes on the disk of each node, once all of it is written there. Raises
        DeployError.
        """

    def drop(self, nodes: Sequence[Host], keyspace: str) -> None:
        """Remove a keyspace, if it is there. DeployError."""
