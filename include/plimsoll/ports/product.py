"""A product on the hosts of a cluster, an action on its running nodes, and what its processes leave to be judged."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from pydantic import JsonValue

from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ReportedNode
from plimsoll.domain.keys.action import Action, ActionEnd, ActionName
from plimsoll.domain.keys.process import Event, EventKind, LogLine, Process
from plimsoll.domain.keys.variant import Download, Variant
from plimsoll.domain.text.errors import ActionError, DeployError, Problem
from plimsoll.ports.host import Host


@dataclass(frozen=True)
class ActionRequest:
    """An action on these nodes, the seed first; `spares` are hosts on which no node was started yet.

    Whatever it starts on hosts ends by itself after `expires`. `now`: by the controller's clock.
    """

    action: Action
    spec: VariantSpec
    nodes: Sequence[Host]
    spares: Sequence[Host]
    expires: timedelta
    now: datetime


@dataclass(frozen=True)
class ActionStatus:
    """How far an action is: what it does now, in words, and its end once the product itself told of that."""

    note: str = ""
    end: ActionEnd | None = None


_NUMBER = "give the number of rows instead of `data_per_node`"


class Evidence:
    """The reader of the collected logs of a product's processes. Pure: it is used whenever an attempt is judged.

    Every method has the name of the process and the text of its log; `zone` is the time zone of times in the log. Where
    the form of logs is not known, or nobody here has them, nothing is read.
    """

    kinds: Sequence[EventKind] = ()
    """The kinds of `events`."""

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:
        """Return the entries about work that may delay operations."""
        return ()

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:
        """Return the lines that have a time."""
        return ()

    def remarks(self, process: str, text: str, zone: tzinfo) -> Sequence[str]:
        """Return sentences about what happened to the cluster as a whole, which every verdict has as warnings."""
        return ()


class Product(ABC):
    """A database whose nodes can be deployed and watched. What only some products can do has an answer here that says
    that this one can't.
    """

    name: str
    ports: Sequence[int] = ()
    """The TCP ports on which every node listens, each at an address of its own."""
    evidence: Evidence
    settles = False
    """Whether its nodes tell of the work that populating left, such as compactions: `leftover_work`."""
    measures_rows = False
    """Whether it can measure the size of rows on its disks, and remove them: `bytes_on_disk`, `drop`."""
    actions: Collection[ActionName] = ()
    """What can be done to it under load: `act`."""

    def at(self, options: Mapping[str, JsonValue]) -> "Product":
        """Return the product with what the provider's options say of a database that somebody else runs."""
        return self

    @abstractmethod
    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return all problems that keep these variants from running.

        Examples: missing artefacts, a JVM that the product can't use, a garbage collector that a JDK does not have.
        """

    def unchecked(self, spec: ProductSpec) -> Sequence[str]:
        """Name the facts that `check` could not test from here, such as flags of a JDK that is not here."""
        return ()

    def downloads(self, spec: ProductSpec) -> Sequence[Download]:
        """Return what `prepare` downloads, here already or not. Fetches nothing."""
        return ()

    def prepare(self, spec: ProductSpec) -> None:  # noqa: B027 - some have nothing to prepare
        """Make in advance what cells of this product would otherwise wait for. Idempotent. Raises ArtefactError."""

    @abstractmethod
    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Install, configure and start the nodes; wait until all are up and agree on the schema. Idempotent.

        The nodes end by themselves after `expires`, whatever happens to the process that owns them. Raises DeployError.
        """

    @abstractmethod
    def processes(self, variant: Variant) -> Sequence[Process]:
        """Return the programs that the product runs on each node, with their files. Pure."""

    @abstractmethod
    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        """Read the real environment of each running node and its processes. Raises DeployError."""

    def reported(self, load: Host) -> Sequence[ReportedNode]:
        """Return what a database of somebody else, whose nodes are no hosts here, tells of its nodes itself.

        `load`: the host on which commands ask it. Raises DeployError.
        """
        return ()

    @abstractmethod
    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return a sentence with the end of its log for each node that is not running; empty while all run."""

    def save(self, node: Host) -> None:  # noqa: B027 - the files of most tell all
        """Write data that only the running node has, such as its metrics, to a file that its process declares."""

    def hides_leftover_work(self, spec: VariantSpec) -> bool:
        """Tell whether clients, and so load generators, can't ask nodes for the work that populating left."""
        return False

    def leftover_work(self, nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        """Return the outcome of waiting until nodes have finished that work, within the adapter's limit.

        The first call with a `job_id` begins to wait. None while the wait lasts. Never blocks.
        """
        raise DeployError("its nodes do not tell of it", where=self.name, mend=f"do not wait for {job_id}")

    def bytes_on_disk(self, nodes: Sequence[Host], keyspace: str) -> Mapping[str, int]:
        """Measure the bytes that a keyspace takes on the disk of each node, once written there. Raises DeployError."""
        raise DeployError("it does not tell what rows take on disk", where=f"{keyspace} of {self.name}", mend=_NUMBER)

    def drop(self, nodes: Sequence[Host], keyspace: str) -> None:  # noqa: B027 - what is not measured was not written
        """Remove a keyspace, if it is there. DeployError."""

    def act(self, request: ActionRequest) -> ActionStatus:
        """Begin the action, or go on with it, and tell how far it is. Does not wait for its end. Idempotent.

        All that it did is found on the hosts, so any process can go on with it. A node is changed only once the product
        told that the change of the one before has ended. Raises ActionError where the action failed.
        """
        raise ActionError(f"can't be done to {self.name}", where=request.action.name, mend="run `plimsoll plan`")
