"""Hosts against their floors."""

import pytest

from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.keys.host_bounds import Canary, HostFigures
from plimsoll.services.cell.preflight import shortfalls

MIB = 1 << 20
NODE = HostInfo(name="node1", role="node", address="10.0.0.1", facts={"instance_type": "r5d.2xlarge"})
LOAD = HostInfo(name="load", role="load", address="10.0.0.9")


def figures(host: str, **changed: int) -> HostFigures:
    given = {"cpu": 1000, "disk_write": 200, "disk_read": 400, "network": 300} | changed
    return HostFigures(host=host, **{f"{name}_bytes_s": figure * MIB for name, figure in given.items()})


FLOORS = Canary.model_validate({"node": {"disk_write": "150M", "network": "250M"}, "load": {"network": "250M"}})


def test_hosts_that_reach_their_floors_are_fit() -> None:
    assert shortfalls(FLOORS, [NODE, LOAD], [figures("node1", disk_write=150), figures("load")]) == {}


def test_each_figure_below_is_named_with_host_and_floor() -> None:
    found = shortfalls(FLOORS, [NODE, LOAD], [figures("node1", disk_write=41, network=9), figures("load", network=80)])
    assert found == {
        "node1": "node1 (r5d.2xlarge) writes 41M/s to its disk, the floor is 150M/s; "
        "node1 (r5d.2xlarge) sends or receives 9M/s at best, the floor is 250M/s",
        "load": "load (10.0.0.9) sends or receives 80M/s at best, the floor is 250M/s",
    }


def test_the_load_host_has_floors_of_its_own_and_what_has_none_is_not_judged() -> None:
    assert shortfalls(FLOORS, [NODE, LOAD], [figures("node1", cpu=1), figures("load", disk_write=1)]) == {}


def test_hosts_and_figures_must_belong_together() -> None:
    with pytest.raises(ValueError, match="argument"):
        shortfalls(FLOORS, [NODE, LOAD], [figures("node1")])
