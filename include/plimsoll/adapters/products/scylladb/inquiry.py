"""Ask running nodes over their REST API, on their own machines: it asks nobody for a password."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from plimsoll.adapters.products.nodes.answers import answer_of
from plimsoll.adapters.products.nodes.compactions import PATIENCE
from plimsoll.adapters.products.nodes.machines import own_loopback
from plimsoll.adapters.products.scylladb import rest_client
from plimsoll.adapters.products.scylladb.node_files import METRICS, PRODUCT, NodeFiles
from plimsoll.adapters.products.scylladb.settings import API_PORT, METRICS_PORT
from plimsoll.domain.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.ports.host import Host

_PYTHON = ("python3", "-I", "-S", "-B")
_ANSWER = timedelta(minutes=1)
_BUILD = re.compile(r"-0\.\d{8}\..*")
"""The end of `4.4.3-0.20210714.ce3b5e9a5`, which is not part of the release's name."""


def fingerprint(node: Host) -> NodeFingerprint:
    """Read what the node reports. Raises DeployError where it does not answer."""
    [build] = _ask(node, "version", f"{own_loopback(node.info.address)}:{API_PORT}")
    return NodeFingerprint(
        host=node.info.name,
        address=node.info.address,
        facts=node.facts(),
        processes=(ProcessFingerprint(name=PRODUCT, version=build),),
        database=PRODUCT,
        database_version=_BUILD.sub("", build).replace("~", "-"),
        clock_offset_ms=node.clock().offset_ms,
    )


def save_metrics(node: Host) -> None:
    """Write the node's metrics to a file on its host, if the node answers."""
    place = f"{own_loopback(node.info.address)}:{METRICS_PORT}"
    node.run(_command(node, "metrics", str(NodeFiles(node.root).kept / METRICS), place), timeout=_ANSWER, check=False)


def settle_command(nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the command that waits until these nodes of one machine have no compactions left."""
    places = (f"{own_loopback(node.info.address)}:{API_PORT}" for node in nodes)
    return _command(nodes[0], "settle", str(PATIENCE.total_seconds()), *places)


def _ask(node: Host, *arguments: str) -> Any:
    result = node.run(_command(node, *arguments), timeout=_ANSWER, check=False)
    where = f"{PRODUCT} on {node.info.name}"
    return answer_of(result, arguments[0], where=where, mend="see whether the node runs")


def _command(host: Host, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs the client on that host, after writing it there."""
    program = NodeFiles(host.root).rest_client
    host.write(program, Path(rest_client.__file__).read_text(encoding="utf-8"))
    return (*_PYTHON, str(program), *arguments)
