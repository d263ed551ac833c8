"""A database product on the hosts of a cluster."""

from collections.abc import Sequence
from datetime import timedelta, tzinfo
from pathlib import PurePosixPath
from typing import Protocol

from plimsoll.domain.aftermath import Aftermath
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.fingerprint import NodeFingerprint
from plimsoll.domain.happening import Event, LogLine
from plimsoll.domain.variant import Variant
from plimsoll.ports.host import Host


class Database(Protocol):
    """Deploys, watches and describes one database product."""

    name: str
    log_file: str
    """Name of the collected file that `events` and `lines` read."""

    def check(self, definition: Definition) -> Sequence[Problem]:
        """What keeps the definition's variants of this product from running, asked of the real things.

        Missing artefacts, a JVM that the product needs or can't use, collectors that a JDK lacks and the like.
        """

    def unchecked(self, definition: Definition) -> Sequence[str]:
        """Sentences on what `check` could not ask from here, such as flags of a JDK that is not here."""

    def prepare(self, definition: Definition) -> None:
        """Have ahead of time what cells of this product would otherwise wait for; ArtefactError. Idempotent."""

    def deploy(
        self, definition: Definition, variant: Variant, nodes: Sequence[Host], load: Host, expires: timedelta
    ) -> None:
        """Install, configure, start; wait until all nodes are up and agree on the schema. Idempotent. DeployError.

        The nodes end by themselves after `expires`, whatever happens to their owner.
        """

    def fingerprint(self, variant: Variant, nodes: Sequence[Host], load: Host) -> Sequence[NodeFingerprint]:
        """What really runs on each node; with the facts of its JVM where the product runs in one."""

    def hides_aftermath(self, definition: Definition, variant: Variant) -> bool:
        """Whether clients, so load generators too, can't ask nodes what populating left to do, such as compactions."""

    def aftermath(self, nodes: Sequence[Host]) -> Aftermath | None:
        """What came of waiting, within a bound of the adapter's, until the nodes had none of that work left.

        The first call begins to wait; None as long as it lasts. Never blocks.
        """

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """A sentence with the log's tail for each node that is not running; empty while all are."""

    def files(self, node: Host) -> Sequence[PurePosixPath]:
        """Logs, GC logs and configuration worth keeping, on that node."""

    def events(self, text: str, zone: tzinfo) -> Sequence[Event]:
        """What a node's collected log tells of work that may hold up operations; `zone` is that of its times. Pure."""

    def lines(self, text: str, zone: tzinfo) -> Sequence[LogLine]:
        """The lines of a node's collected log that have a time; `zone` as above. Pure."""
