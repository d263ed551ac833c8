"""Ask running nodes over their REST API, on their own machines: it asks nobody for a password."""

import re
from collections.abc import Sequence

from plimsoll.adapters.products.nodes import local_http
from plimsoll.adapters.products.nodes.machines import own_loopback
from plimsoll.adapters.products.nodes.node_state import name_of, node_fingerprint
from plimsoll.adapters.products.scylladb.node_files import METRICS, PRODUCT, NodeFiles
from plimsoll.adapters.products.scylladb.settings import API_PORT, METRICS_PORT
from plimsoll.domain.errors import DeployError
from plimsoll.domain.fingerprint import NodeFingerprint, ProcessFingerprint
from plimsoll.ports.host import Host

_BUILD = re.compile(r"-0\.\d{8}\..*")
"""The end of `4.4.3-0.20210714.ce3b5e9a5`, which is not part of the release's name."""


def fingerprint(node: Host) -> NodeFingerprint:
    """Read what the node reports. Raises DeployError where it does not answer."""
    [build] = local_http.get(node, _url(node, API_PORT, "storage_service/scylla_release_version"))
    if build is None:
        where = f"{PRODUCT} on {name_of(node)}"
        raise DeployError("its REST API gives no answer", where=where, mend="see whether the node runs")
    version = _BUILD.sub("", build).replace("~", "-")
    return node_fingerprint(node, PRODUCT, version, [ProcessFingerprint(name=PRODUCT, version=build)])


def save_metrics(node: Host) -> None:
    """Write the node's metrics to a file on its host, if the node answers."""
    local_http.save(node, _url(node, METRICS_PORT, "metrics"), NodeFiles(node.root).kept / METRICS)


def settle_command(nodes: Sequence[Host]) -> tuple[str, ...]:
    """Return the command that waits until these nodes of one machine have no compactions left."""
    urls = [_url(node, API_PORT, "compaction_manager/metrics/pending_tasks") for node in nodes]
    return local_http.settle_command((), urls)


def _url(node: Host, port: int, path: str) -> str:
    return f"{own_loopback(node.info.address)}:{port}/{path}"
