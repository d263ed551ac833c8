"""Start a node by its commands, and find what is known of it again."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath
from typing import NamedTuple

from pydantic import JsonValue

from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.adapters.products.command.values import PRODUCT, of_node
from plimsoll.adapters.products.nodes.node_process import NodeProcess
from plimsoll.domain.database_command import DatabaseCommand
from plimsoll.domain.load_command import filled, program_of
from plimsoll.ports.host import Host, Job

NODE = NodeProcess(PRODUCT, lambda root: (console_path(root, PRODUCT),))
HOME = PurePosixPath(PRODUCT)
"""The folder of a node's files below its host's root; its data are in `data`."""
KEPT = ("start.sh", "plan.json")
"""The files of that folder that are kept: the commands as they ran, and what is known of the node."""
_MOST_BYTES = 65_536


@dataclass(frozen=True)
class Blueprint:
    """The properties that all nodes of a cluster have in common. `declared`: the release that the definition says."""

    command: DatabaseCommand
    settings: Mapping[str, JsonValue]
    declared: str
    addresses: Sequence[str]
    expires: timedelta

    def programs(self, host: Host, number: int) -> Sequence[str]:
        """Return the programs of all commands."""
        command, values = self.command, self._values(host, number)
        return [program_of(line, values) for line in (*command.prepare, command.run, command.ready, command.version)]

    def start(self, host: Host, number: int) -> Sequence[str]:
        """Start the node unless it was started before. Returns the command that asks whether it is ready."""
        home, values = host.root / HOME, self._values(host, number)
        prepare = [shlex.join(filled(line, values)) for line in self.command.prepare]
        script = ["#!/bin/sh", "set -e", *prepare, f"exec {shlex.join(filled(self.command.run, values))}", ""]
        host.write(home / KEPT[0], "\n".join(script))
        known = {"version": filled(self.command.version, values), "declared": self.declared}
        host.write(home / KEPT[1], json.dumps(known))
        argv = ("/bin/sh", str(home / KEPT[0]))
        host.start(Job(id=PRODUCT, argv=argv, expires=self.expires, cwd=home, owns=home / "data"))
        return filled(self.command.ready, values)

    def _values(self, host: Host, number: int) -> Mapping[str, str]:
        return of_node(self.settings, self.addresses, number, host.root / HOME / "data")


class Known(NamedTuple):
    """The command that prints a node's release, and the release that the definition says."""

    version: Sequence[str]
    declared: str


def known_of(host: Host) -> Known:
    """Return what was written when the node was started."""
    found = json.loads(host.read_tail(host.root / HOME / KEPT[1], max_bytes=_MOST_BYTES))
    return Known(found["version"], found["declared"])
