"""Faults of hosts and of their links, each where it strikes in a cell's life: real hosts over real SSH."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cloud.cloud import Cloud, running_cloud
from tests.cloud.faults import SmallDisk
from tests.cloud_account import Account
from tests.fakes.instant import Faults
from tests.integration.cloud.conftest import keygen
from tests.integration.reliability.conftest import (
    CELL,
    Moments,
    Place,
    StruckDatabase,
    StruckLoadGenerator,
    place_on,
)
from tests.lacking import require_namespaces

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.ec2 import over_ssh
from plimsoll.adapters.ssh import Connections
from plimsoll.ports.host import Host, Job
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.services.campaigns import read_manifest

SLEEP = ("sleep", "3600")


class SleepingDatabase(StruckDatabase):
    """A process on every node, beside so much data on its disk."""

    data_mib = 1

    def deploy(self, definition: Any, variant: Any, nodes: Any, load: Host, expires: timedelta) -> None:
        for node in nodes:
            fill = ["dd", "if=/dev/zero", "of=data", "bs=1M", f"count={self.data_mib}"]
            node.run(fill, timeout=timedelta(seconds=60), check=False)
            node.start(Job("database", SLEEP, expires))
        super().deploy(definition, variant, nodes, load, expires)

    def down(self, nodes: Any) -> list[str]:
        return [f"{node.info.name} is down" for node in nodes if node.status("database").state != "running"]


class SleepingLoad(StruckLoadGenerator):
    """A process on the load host; the load is over when the test says so."""

    over = False

    def start(self, host: Host, request: LoadRequest) -> None:
        super().start(host, request)
        host.start(Job("load", SLEEP, request.expires))

    def status(self, host: Host, job_id: str) -> LoadStatus:
        if host.status("load").state != "running":
            return LoadStatus("failed", reason="the load was killed")
        status = super().status(host, job_id)
        return status if self.over else LoadStatus("running", "load", achieved_ops_s=1.0, seconds_left=1.0)

    def stop(self, host: Host, job_id: str) -> None:
        host.stop("load", grace=timedelta(seconds=1))


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    require_namespaces()
    with running_cloud("namespaces") as cloud:
        yield cloud


@pytest.fixture
def moments() -> Moments:
    return Moments()


@pytest.fixture
def database(tmp_path: Path, moments: Moments) -> SleepingDatabase:
    return SleepingDatabase(Faults(tmp_path / "faults"), moments)


@pytest.fixture
def load(tmp_path: Path, moments: Moments) -> SleepingLoad:
    return SleepingLoad(Faults(tmp_path / "faults"), moments)


@pytest.fixture
def place(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: SleepingDatabase, load: SleepingLoad
) -> Iterator[Place]:
    """One node and the load's host. Silence counts after ten seconds, at once: a minute is for other machines."""
    monkeypatch.setattr("plimsoll.adapters.ssh.opening._CONNECT_S", 3.0)
    monkeypatch.setattr("plimsoll.adapters.ssh.opening._HANDSHAKE_S", 10.0)
    monkeypatch.setattr("plimsoll.adapters.ssh.connection._OPEN_S", 10.0)
    monkeypatch.setattr("plimsoll.adapters.ssh.connection._TRYING_S", 8.0)
    account = Account(cloud.endpoint, keygen(tmp_path / "id"))
    connections = Connections(account)
    yield place_on(cloud, account, SystemClock(), over_ssh(connections), database=database, load=load, nodes=1)
    connections.close()
    cloud.clear()
    for instance in cloud.leftovers()["instances"]:
        cloud.kill(instance)


def test_hosts_that_are_out_of_reach_for_a_while_cost_nothing(place: Place, load: SleepingLoad) -> None:
    """The node's link is cut and mended, then the load's host is frozen and thawed, then the load ends."""
    when, host = place.moments.when, place.cloud.host

    def mend_and_freeze() -> None:
        host(place.instance("node")).heal()
        host(place.instance("load")).freeze()
        when["observed now"] = thaw_and_end

    def thaw_and_end() -> None:
        host(place.instance("load")).thaw()
        load.over = True

    place.moments.within["load"] = act(place, "node", "cut")
    when["observed now"] = mend_and_freeze
    assert place.run().valid
    assert sum("observed now" in said for said in place.moments.said) >= 2
    place.assert_counts_once()


def test_a_host_that_stays_out_of_reach_ends_the_attempt_and_the_cell_is_run_again(
    place: Place, load: SleepingLoad, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.services.following.OUT_OF_REACH", timedelta(seconds=10))
    place.moments.within["load"] = act(place, "node", "freeze")
    [reason] = place.run().reasons
    assert "out of reach for 0:00:10" in reason
    assert "; nothing was collected from node1: host " in reason
    assert collected(place, 1) == {"load"}
    assert place.cloud.nothing_left(), place.cloud.leftovers()
    load.over = True
    assert place.run().valid
    place.assert_counts_once(attempts=2)


def test_a_host_that_stands_still_while_files_are_collected_costs_its_own(place: Place, load: SleepingLoad) -> None:
    load.over = True
    place.moments.within["collect"] = act(place, "load", "freeze")
    [reason] = place.run().reasons
    assert reason.startswith("nothing was collected from load: host ")
    assert collected(place, 1) == {"node1"}
    assert place.cloud.nothing_left(), place.cloud.leftovers()


def test_a_disk_that_is_too_small_is_named_and_the_cell_is_run_again(
    place: Place, database: SleepingDatabase, load: SleepingLoad
) -> None:
    place.cloud.fault(SmallDisk(bytes=16 * 2**20, times=1))
    database.data_mib, load.over = 32, True
    verdict = place.run()
    assert not verdict.valid
    assert verdict.reasons[0].startswith("deploy: ")
    assert "No space left on device" in verdict.reasons[0]
    assert "free disk space on the host" in verdict.reasons[0]
    assert place.cloud.nothing_left(), place.cloud.leftovers()
    assert place.run().valid
    place.assert_counts_once(attempts=2)


def collected(place: Place, attempt: int) -> set[str]:
    """Hosts that files were collected from."""
    manifest = read_manifest(place.campaign.store, place.campaign.key(CELL, attempt))
    assert manifest is not None
    return {Path(entry.path).parts[1] for entry in manifest.files}


def act(place: Place, role: str, verb: str) -> Callable[[], None]:
    """Freeze, thaw, cut or heal the host of that role, once it is called."""

    def do() -> None:
        getattr(place.cloud.host(place.instance(role)), verb)()

    return do
