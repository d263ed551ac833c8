"""Any database as a product under test, by the commands that a definition gives."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.adapters.products.command.checks import problems
from plimsoll.adapters.products.command.node import HOME, KEPT, NODE, Blueprint, known_of
from plimsoll.adapters.products.command.values import PRODUCT
from plimsoll.adapters.products.nodes.last_lines import last_lines
from plimsoll.adapters.products.nodes.node_state import down, name_of, node_fingerprint
from plimsoll.adapters.products.nodes.unread_logs import UnreadLogs
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import DeployError, Problem
from plimsoll.domain.excerpts import shortened
from plimsoll.domain.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.domain.process import Process
from plimsoll.domain.variant import Variant
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.product import Evidence

_PATIENCE = timedelta(minutes=5)
_ASK = timedelta(seconds=20)
_POLL_S = 0.5


class CommandDatabase:
    """An implementation of the Product port. Each node is one program; nodes start one after the other."""

    name = PRODUCT
    ports: Sequence[int] = ()
    evidence: Evidence = UnreadLogs()

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def check(self, definition: Definition) -> Sequence[Problem]:
        """Return problems: unknown placeholders, and what such a database can't have."""
        return problems(definition)

    def unchecked(self, definition: Definition) -> Sequence[str]:  # noqa: ARG002 - of every definition
        """Name what only the hosts can tell."""
        return ["a database of commands must be on its hosts: whether it starts shows there only"]

    def prepare(self, definition: Definition) -> None:
        """Do nothing, because the hosts have the database."""

    def deploy(
        self,
        definition: Definition,
        variant: Variant,
        nodes: Sequence[Host],
        load: Host,  # noqa: ARG002 - each node is asked on its own host
        expires: timedelta,
    ) -> None:
        """Start one node after the other, each once the one before is ready. Raises DeployError."""
        command = definition.system.command
        assert command is not None, "checked before"
        addresses = [node.info.address for node in nodes]
        settings, release = definition.settings_of(variant), definition.version_of(variant)
        blueprint = Blueprint(command, settings, release, addresses, expires)
        until = self._clock.now() + (definition.system.start_within or _PATIENCE)
        for number, node in enumerate(nodes):
            self._await_ready(node, blueprint.start(node, number), until)

    def processes(self, variant: Variant) -> Sequence[Process]:  # noqa: ARG002 - every node runs the same program
        """Return the one program of a node."""
        log = console_path(HOME.parent, PRODUCT)
        return [Process(PRODUCT, log=log.name, files=(str(log), *(str(HOME / name) for name in KEPT)))]

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:  # noqa: ARG002
        """Ask each node for its release, by the command for that."""
        return [_fingerprint(node) for node in nodes]

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return a sentence with the last log lines for each node that is not running."""
        return [sentence for node in nodes if (sentence := down(node, NODE))]

    def _await_ready(self, node: Host, ready: Sequence[str], until: datetime) -> None:
        where, mend = f"{PRODUCT} on {name_of(node)}", "see its console, and what `ready` asks"
        while node.run(ready, timeout=_ASK, check=False).exit_code != 0:
            if ended := down(node, NODE):
                raise DeployError(f"ended before it was ready: {ended}", where=where, mend=mend)
            if self._clock.now() >= until:
                what = f"was not ready at {until:%H:%M:%S} UTC: {last_lines(node, NODE)}"
                raise DeployError(what, where=where, mend=mend)
            self._clock.sleep(_POLL_S)


def _fingerprint(node: Host) -> NodeFingerprint:
    """Return what the node tells. Its release is the declared one if its words have that among them."""
    version, declared = known_of(node)
    told = node.run(version, timeout=_ASK, check=False)
    line = next((line.strip() for line in f"{told.stdout}\n{told.stderr}".splitlines() if line.strip()), "")
    is_declared = re.search(rf"(?<![\w.]){re.escape(declared)}(?![\w.])", line) is not None
    release = declared if is_declared else shortened(line) or "it told none"
    return node_fingerprint(node, PRODUCT, release, [ProcessFingerprint(name=PRODUCT, version=shortened(line))])
