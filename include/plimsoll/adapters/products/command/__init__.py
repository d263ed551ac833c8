"""Any database as a product under test, by the commands of a definition: they start a node, and tell of it. Their
values for placeholders, and their faults, are known before anything starts.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from plimsoll.adapters.hosts.base import console_path
from plimsoll.adapters.hosts.processes import missing
from plimsoll.adapters.products.nodes.node_process import NodeProcess
from plimsoll.adapters.products.nodes.node_state import down, last_lines, name_of, node_fingerprint
from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.domain.keys.process import Process
from plimsoll.domain.keys.system import DatabaseCommand, filled, placeholders, program_of, values_of
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.text.errors import LASTS, DeployError, Problem
from plimsoll.domain.text.wording import meant_or_known, shortened
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host, Job
from plimsoll.ports.product import Evidence, Product

PRODUCT = "command"
"""The name of such a database in definitions, of a node's job and of its process."""
OF_NODES = {
    "address": "address of the node",
    "addresses": "addresses of all nodes, with commas",
    "node": "number of the node, from 1",
    "data": "folder of the node's data, which `prepare` or `run` makes",
}
"""Name → meaning. Further names are the settings of system and variant that are texts or numbers."""

_WHERE = "system.command"
_EXAMPLE = "write `command: {run: my-database --data {data} --listen {address}, ready: …, version: …}`"


def _variant(where: str, variant: Variant) -> Iterator[Problem]:
    if variant.jvm is not None:
        yield Problem(f"{where}.jvm", "its command alone says what a database runs on", "remove `jvm`")
    if variant.archive is not None:
        yield Problem(f"{where}.archive", "a database of commands must be on its hosts", "remove `archive`")
    for name in sorted(OF_NODES.keys() & variant.settings.keys()):
        yield Problem(f"{where}.settings.{name}", f"{{{name}}} is {OF_NODES[name]}", "give the setting another name")


def _unknown(spec: VariantSpec, command: DatabaseCommand) -> Iterator[Problem]:
    known = [*OF_NODES, *values_of(spec.settings)]
    lines = {"run": command.run, "ready": command.ready, "version": command.version}
    lines |= {f"prepare[{number}]": line for number, line in enumerate(command.prepare)}
    for key, line in lines.items():
        for name in placeholders(line):
            if name not in known:
                what = f"{{{name}}} stands for nothing with variant {spec.variant.id!r}"
                yield Problem(f"{_WHERE}.{key}", what, meant_or_known(name, known))


def _addresses(command: DatabaseCommand) -> Iterator[Problem]:
    """Yield a problem where nodes would all listen at one address, since several may share a machine."""
    named = {name for line in (command.run, *command.prepare) for name in placeholders(line)}
    if not {"address", "addresses"} & named:
        what = "has no {address}: nodes of several cells share a machine, and each listens at an address of its own"
        yield Problem(f"{_WHERE}.run", what, "write {address} where the database takes it")


_PATIENCE = timedelta(minutes=5)
_ASK = timedelta(seconds=20)
_POLL_S = 0.5
NODE = NodeProcess(PRODUCT, lambda root: (console_path(root, PRODUCT),))
HOME = PurePosixPath(PRODUCT)
"""The folder of a node's files below its host's root; its data are in `data`."""

KEPT = ("start.sh", "plan.json")
"""The files of that folder that are kept: the commands as they ran, and what is known of the node."""

_MOST_BYTES = 65_536


def _values(spec: VariantSpec, nodes: Sequence[Host], number: int) -> Mapping[str, str]:
    """Return every placeholder's value for node `number` of all, from 0."""
    addresses = [node.info.address for node in nodes]
    return {
        **values_of(spec.settings),
        "address": addresses[number],
        "addresses": ",".join(addresses),
        "node": str(number + 1),
        "data": str(nodes[number].root / HOME / "data"),
    }


class CommandDatabase(Product):
    """Each node is one program; nodes start one after the other."""

    name = PRODUCT
    evidence = Evidence()

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        command = spec.command
        if command is None:
            return [Problem(_WHERE, "is missing: the database `command` is what it says", _EXAMPLE)]
        return [
            *(problem for variant in spec.variants for problem in _variant(variant.where, variant.variant)),
            *dict.fromkeys(problem for variant in spec.variants for problem in _unknown(variant, command)),
            *_addresses(command),
        ]

    def unchecked(self, spec: ProductSpec) -> Sequence[str]:
        return ["a database of commands must be on its hosts: whether it starts shows there only"]

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Start each node once the one before is ready with the definition's release. Raises DeployError."""
        command = spec.command
        assert command is not None, "checked before"
        for number, node in enumerate(nodes):  # else the lack of `ready`'s program would be noticed late
            lines, values = (
                (*command.prepare, command.run, command.ready, command.version),
                _values(spec, nodes, number),
            )
            if lacking := missing(node, [program_of(line, values) for line in lines]):
                what = f"there is no {' and no '.join(lacking)} on {name_of(node)}"
                raise DeployError(what, where=PRODUCT, mend=f"install it there, or correct `system.command`; {LASTS}")
        until = self._clock.now() + (spec.start_within or _PATIENCE)
        for number, node in enumerate(nodes):
            values = _values(spec, nodes, number)
            _start(node, command, values, spec.version, expires)
            self._await_ready(node, filled(command.ready, values), until)
            _require_release(node)

    def processes(self, variant: Variant) -> Sequence[Process]:
        log = console_path(HOME.parent, PRODUCT)
        return [Process(PRODUCT, log=log.name, files=(str(log), *(str(HOME / name) for name in KEPT)))]

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        return [_fingerprint(node) for node in nodes]

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
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


def _start(host: Host, command: DatabaseCommand, values: Mapping[str, str], declared: str, expires: timedelta) -> None:
    """Start the node unless it was started before. `declared`: the release that the definition says."""
    home = host.root / HOME
    prepare = [shlex.join(filled(line, values)) for line in command.prepare]
    script = ["#!/bin/sh", "set -e", *prepare, f"exec {shlex.join(filled(command.run, values))}", ""]
    host.write(home / KEPT[0], "\n".join(script))
    host.write(home / KEPT[1], json.dumps({"version": filled(command.version, values), "declared": declared}))
    argv = ("/bin/sh", str(home / KEPT[0]))
    host.start(Job(id=PRODUCT, argv=argv, expires=expires, cwd=home, owns=home / "data"))


def _require_release(node: Host) -> None:
    """Raise DeployError, with what to write, where the node tells another release than the definition."""
    exit_code, line, declared = _version(node)
    if _tells(line, declared):
        return
    names = [name for name in re.findall(r"\d\w*(?:\.\w+)*", line) if _tells(line, name)]
    # A number with a dot is more likely the release than a year, or the number of a build
    release = max(names, key=lambda name: "." in name, default="")
    write = f'write `version: "{release}"`' if release else "write a command `version` that prints it"
    printed = shortened(line) if line else f"nothing, with exit code {exit_code}"
    what = f"`system.command.version` told {printed} on {name_of(node)}, and the definition says {declared}"
    raise DeployError(what, where=PRODUCT, mend=f"{write}, or install {declared} there; {LASTS}")


def _version(node: Host) -> tuple[int, str, str]:
    """Return exit code and first line of the command `version`, and the release declared when the node was started."""
    known = json.loads(node.read_tail(node.root / HOME / KEPT[1], max_bytes=_MOST_BYTES))
    ended = node.run(known["version"], timeout=_ASK, check=False)
    # Some programs print their release to their error output, as `java -version` does
    line = next((line.strip() for line in f"{ended.stdout}\n{ended.stderr}".splitlines() if line.strip()), "")
    return ended.exit_code, line, known["declared"]


def _tells(line: str, release: str) -> bool:
    """Tell whether the line has that release among its words, also as `v1.2`."""
    return re.search(rf"(?<![\w.])v?{re.escape(release)}(?![\w.])", line) is not None


def _fingerprint(node: Host) -> NodeFingerprint:
    """Return what the node tells. Its release is the declared one if its words have that among them."""
    _, line, declared = _version(node)
    release = declared if _tells(line, declared) else shortened(line) or "it told none"
    return node_fingerprint(node, PRODUCT, release, [ProcessFingerprint(name=PRODUCT, version=shortened(line))])
