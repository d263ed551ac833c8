"""The check of hosts as a part of deployment."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import InstantProduct

from plimsoll.domain.keys.host_bounds import Canary, HostFigures
from plimsoll.domain.text.errors import DeployError, ProviderError
from plimsoll.ports.host import Host
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext

CELL = "v1-001k-r1"
MIB = 1 << 20
FLOORS = Canary.model_validate({"node": {"disk_write": "150M"}})

Provisioned = Callable[..., AttemptContext]
"""An attempt with hosts, by its canary and floors."""


class ToldCanary:
    """Implements the HostCanary port: the same for every host."""

    def __init__(self, written: int) -> None:
        self.written, self.examined = written, 0

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        self.examined += 1
        rest = {"cpu_bytes_s": 1e9, "disk_read_bytes_s": 1e9, "network_bytes_s": 1e9}
        return [HostFigures(host=host.info.name, disk_write_bytes_s=self.written * MIB, **rest) for host in hosts]


@pytest.fixture
def attempt(tmp_path: Path) -> Provisioned:
    def provisioned(canary: ToldCanary, floors: Canary | None = FLOORS) -> AttemptContext:
        installation = Installation(tmp_path)
        definition = instant_definition(variants=1, loads=1).model_copy(update={"canary": floors})
        installation.open_campaign(definition)
        work = begin(replace(installation.toolkit, canary=canary), "campaign", CELL, "test")
        actions.provision(work)
        return work

    return provisioned


def test_what_hosts_reached_is_in_the_fingerprint(attempt: Provisioned) -> None:
    found = actions.deploy(attempt(ToldCanary(200))).canary
    assert [host.host for host in found] == ["node1", "node2", "node3", "load"]
    assert found[0].disk_write_bytes_s == 200 * MIB


def test_a_bad_host_ends_the_attempt_before_its_database_starts(
    attempt: Provisioned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(InstantProduct, "deploy")
    with pytest.raises(DeployError, match=r"node1 \(127\.9\.9\.1\) writes 41M/s to its disk, the floor is 150M/s"):
        actions.deploy(attempt(ToldCanary(41)))


class TakenAway(ToldCanary):
    """While it examines the hosts, somebody else destroys their cluster."""

    work: AttemptContext

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        self.work.provider.destroy(self.work.cluster_id)
        return super().examine(hosts)


def test_on_hosts_that_were_taken_away_while_they_were_measured_no_database_starts(
    attempt: Provisioned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(InstantProduct, "deploy")
    canary = TakenAway(200)
    canary.work = attempt(canary)
    with pytest.raises(ProviderError, match="the cluster is gone"):
        actions.deploy(canary.work)


def test_hosts_are_measured_once_an_attempt(attempt: Provisioned) -> None:
    canary = ToldCanary(200)
    work = attempt(canary)
    actions.deploy(work)
    actions.deploy(work)
    assert canary.examined == 1


def test_a_definition_without_it_has_none(attempt: Provisioned) -> None:
    canary = ToldCanary(41)
    assert actions.deploy(attempt(canary, None)).canary == ()
    assert canary.examined == 0
