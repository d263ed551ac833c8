"""What a program on a machine tells of its nodes, in words for people elsewhere."""

from pathlib import Path

import pytest
from tests.fakes.hosts import FolderHost

from plimsoll.adapters.products.nodes.own_machine import with_names
from plimsoll.domain.hosts.cluster import HostInfo


@pytest.mark.parametrize(
    ("addresses", "told", "shown"),
    [
        (["10.0.0.7"], "127.0.0.1 40 %", "node1 40 %"),
        (["10.0.0.7"], "127.0.0.1:7199: refused", "node1: refused"),
        (["127.0.9.1", "127.0.9.10"], "127.0.9.10 5 %, 127.0.9.1 40 %", "127.0.9.10 5 %, 127.0.9.1 40 %"),
        (["10.0.0.7"], "10.0.0.7 streams to 10.0.0.8", "10.0.0.7 streams to 10.0.0.8"),
    ],
)
def test_nodes_have_their_names_in_place_of_an_address_that_every_machine_has(
    tmp_path: Path, addresses: list[str], told: str, shown: str
) -> None:
    hosts = [
        FolderHost(tmp_path / f"node{n}", HostInfo(name=f"node{n}", role="node", address=address))
        for n, address in enumerate(addresses, start=1)
    ]
    assert with_names(told, hosts) == shown
