"""A product on the hosts of a cluster, and what its processes leave to be judged."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta, tzinfo
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from plimsoll.domain.action import ActionName
from plimsoll.domain.errors import Problem
from plimsoll.domain.fingerprint import NodeFingerprint, ReportedNode
from plimsoll.domain.leftover_work import LeftoverWork
from plimsoll.domain.log_events import Event, EventKind, LogLine
from plimsoll.domain.process import Process
from plimsoll.domain.product_spec import ProductSpec, VariantSpec
from plimsoll.domain.variant import Variant
from plimsoll.ports.action import ActionRequest, ActionStatus
from plimsoll.ports.host import Host


class Evidence(Protocol):
    """The reader of the collected logs of a product's processes. Pure: it is used whenever an attempt is judged.

    Every method has the name of the process and the text of its log; `zone` is the time zone of times in the log.
    """

    kinds: Sequence[EventKind]
    """The kinds of `events`."""

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:
        """Return the entries about work that may delay operations."""

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:
        """Return the lines that have a time."""


class Product(Protocol):
    """A database whose nodes can be deployed and watched. Protocols below add what only some products can do."""

    name: str
    ports: Sequence[int]
    """The TCP ports on which every node listens, each at an address of its own."""
    evidence: Evidence

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return all problems that keep these variants from running.

        Examples: missing artefacts, a JVM that the product can't use, a garbage collector that a JDK does not have.
        """

    def prepare(self, spec: ProductSpec) -> None:
        """Make in advance what cells of this product would otherwise wait for. Idempotent. Raises ArtefactError."""

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Install, configure and start the nodes; wait until all are up and agree on the schema. Idempotent.

        The nodes end by themselves after `expires`, whatever happens to the process that owns them. Raises DeployError.
        """

    def processes(self, variant: Variant) -> Sequence[Process]:
        """Return the programs that the product runs on each node, with their files. Pure."""

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        """Read the real environment of each running node and its processes. Raises DeployError."""

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return a sentence with the end of its log for each node that is not running; empty while all run."""


@runtime_checkable
class PartlyCheckedProduct(Product, Protocol):
    """A product some of whose facts only hosts can tell."""

    def unchecked(self, spec: ProductSpec) -> Sequence[str]:
        """Name the facts that `check` could not test from here, such as flags of a JDK that is not here."""


@runtime_checkable
class SettlingProduct(Product, Protocol):
    """A product whose nodes tell of the work that populating left, such as compactions."""

    def hides_leftover_work(self, spec: VariantSpec) -> bool:
        """Tell whether clients, and so load generators, can't ask nodes for that work."""

    def leftover_work(self, nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        """Return the outcome of waiting until nodes have finished that work, within the adapter's limit.

        The first call with a `job_id` begins to wait. None while the wait lasts. Never blocks.
        """


@runtime_checkable
class MeasuredProduct(Product, Protocol):
    """A product that can measure the size of rows on its disks."""

    def bytes_on_disk(self, nodes: Sequence[Host], keyspace: str) -> Mapping[str, int]:
        """Measure the bytes that a keyspace takes on the disk of each node, once all of it is written there. Raises
        DeployError.
        """

    def drop(self, nodes: Sequence[Host], keyspace: str) -> None:
        """Remove a keyspace, if it is there. DeployError."""


@runtime_checkable
class ActingProduct(Product, Protocol):
    """A product that can be changed under load."""

    actions: Collection[ActionName]
    """What it can do."""

    def act(self, request: ActionRequest) -> ActionStatus:
        """Begin the action, or go on with it, and tell how far it is. Does not wait for its end. Idempotent.

        All that it did is found on the hosts, so any process can go on with it. A node is changed only once the product
        told that the change of the one before has ended. Raises ActionError where the action failed.
        """


@runtime_checkable
class SavingProduct(Product, Protocol):
    """A product whose running nodes tell more than their files do."""

    def save(self, node: Host) -> None:
        """Write data that only the running node has, such as its metrics, to a file that its process declares."""


@runtime_checkable
class ForeignProduct(Product, Protocol):
    """A product that somebody else runs, and whose nodes are no hosts here."""

    def reported(self, options: Mapping[str, JsonValue]) -> Sequence[ReportedNode]:
        """Return what the database itself tells of its nodes; `options`: its provider's. Raises DeployError."""
