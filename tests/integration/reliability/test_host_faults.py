"""Faults of hosts and of their links, each where it strikes in a cell's life: real hosts over real SSH."""

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from tests.cloud.cloud import Cloud, running_cloud
from tests.cloud.faults import SmallDisk
from tests.integration.reliability.real_hosts import RealPlace, quick_silence, real_place
from tests.integration.reliability.struck import CELL
from tests.support.suite.requirements import long, require_namespaces

from plimsoll.services.store import layout

STRIKES = [(role, verb) for role in ("node", "load") for verb in ("freeze", "cut")]
"""Role of a host, and what is done to it."""
STARTUP = timedelta(minutes=1)
Struck = Mapping[tuple[str, str], RealPlace]


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    require_namespaces()
    with running_cloud("namespaces") as cloud:
        yield cloud


@pytest.fixture
def place(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealPlace]:
    """Provide one node and the load's host."""
    quick_silence(monkeypatch)
    with real_place(cloud, tmp_path) as place:
        yield place
    end_instances(cloud)


@pytest.fixture
def struck(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Struck]:
    """Provide a place for each strike.

    Hosts need not answer soon but those that do not, and nobody pauses between tries.
    """
    quick_silence(monkeypatch, 5.0)
    # How often a step is tried again before it is given up is told by tests with fakes: here each try does real work.
    monkeypatch.setattr("plimsoll.services.retries.AWAY_S", (2.0, 5.0))
    with ExitStack() as end:
        places = {
            (role, verb): end.enter_context(real_place(cloud, tmp_path / f"{verb}-{role}")) for role, verb in STRIKES
        }
        for place in places.values():
            place.clock.longest_pause_s = 0.5
        yield places
    end_instances(cloud)


def test_hosts_that_fall_silent_while_they_start_end_the_attempt(struck: Struck) -> None:
    def startup_is_over(place: RealPlace, role: str, verb: str) -> None:
        place.strike(role, verb)()
        place.clock.skip(STARTUP)

    for (role, verb), place in struck.items():
        place.moments.within[f"provision, a {role}"] = partial(startup_is_over, place, role, verb)
    for role, reason in reasons(struck):
        assert reason.startswith(f"provision: hosts were not ready within {STARTUP}: "), reason
        assert "collected" not in reason, "they have nothing yet"
        assert re.search(rf"{role}1? \(i-[0-9a-f]+\): can't be reached: ", reason), reason


@long("hosts fall silent as they start, and in each phase in test_silent_hosts.py")
def test_hosts_that_fall_silent_during_deployment_end_the_attempt(struck: Struck) -> None:
    for (role, verb), place in struck.items():
        place.moments.within["deploy"] = place.strike(role, verb)
    for role, reason in reasons(struck):
        assert re.match(r"deploy: host plimsoll@\S+: can't be reached: ", reason), reason
        assert f"; nothing was collected from {role}" in reason


def test_hosts_that_are_silent_for_a_while_cost_nothing_nor_does_their_silence_as_they_are_destroyed(
    place: RealPlace,
) -> None:
    """Under way the node's link is cut and mended, and the load's host frozen and thawed, more than once."""
    within, when = place.moments.within, place.moments.when

    def mend() -> None:
        """Both have been asked in vain."""
        place.strike("node", "heal")()
        place.strike("load", "thaw")()

    def freeze() -> None:
        place.strike("load", "freeze")()
        within["pause"] = mend

    def heal_and_freeze() -> None:
        place.strike("node", "heal")()
        place.strike("load", "freeze")()
        when["observed now"] = thaw_and_end

    def thaw_and_end() -> None:
        place.strike("load", "thaw")()
        place.load.over = True

    def silence() -> None:
        place.strike("node", "cut")()
        place.strike("load", "freeze")()

    within |= {"provision, a node": place.strike("node", "cut"), "provision, a load": freeze}
    within |= {"load": place.strike("node", "cut"), "destroy": silence}
    when["observed now"] = heal_and_freeze
    assert place.run().valid
    assert not within, "nobody was silenced, or nobody waited"
    assert sum("observed now" in line for line in place.moments.said) >= 2
    place.assert_counts_once()


@long("a host that stays silent ends its attempt in test_silent_hosts.py")
def test_a_disk_too_small_and_a_host_that_stays_out_of_reach_end_their_attempts_and_the_cell_is_run_again(
    place: RealPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.cloud.fault(SmallDisk(bytes=16 * 2**20, times=2))  # load host and node
    place.product.data_mib = 32
    verdict = place.run()
    assert not verdict.valid
    assert verdict.reasons[0].startswith("deploy: ")
    assert "No space left on device" in verdict.reasons[0]
    assert "free disk space on the host" in verdict.reasons[0]
    assert place.cloud.nothing_left(), place.cloud.leftovers()

    monkeypatch.setattr("plimsoll.services.steps.steps.OUT_OF_REACH", timedelta(seconds=10))
    place.moments.within["load"] = place.strike("node", "freeze")
    [reason] = place.run().reasons
    assert "out of reach for 0:00:10" in reason
    assert "; nothing was collected from node1: host " in reason
    assert collected(place, 2) == {"load"}
    assert place.cloud.nothing_left(), place.cloud.leftovers()

    place.load.over = True
    assert place.run().valid
    place.assert_counts_once(attempts=3)


def test_a_host_that_stalls_while_files_are_collected_costs_its_own(place: RealPlace) -> None:
    place.load.over = True
    place.moments.within["collect"] = place.strike("load", "freeze")
    [reason] = place.run().reasons
    assert reason.startswith("nothing was collected from load: host ")
    assert collected(place, 1) == {"node1"}
    assert place.cloud.nothing_left(), place.cloud.leftovers()


def reasons(struck: Struck) -> Iterator[tuple[str, str]]:
    """Yield each role with the reason why its attempt is invalid; all run at once, and nothing is left."""
    with ThreadPoolExecutor(len(struck)) as pool:
        verdicts = list(pool.map(RealPlace.run, struck.values()))
    for (role, verb), place, verdict in zip(struck, struck.values(), verdicts, strict=True):
        assert place.cloud.nothing_left(), place.cloud.leftovers()
        assert not verdict.valid, (role, verb)
        yield role, verdict.reasons[0]


def collected(place: RealPlace, attempt: int) -> set[str]:
    """Return hosts that files were collected from."""
    manifest = layout.MANIFEST.read(place.campaign.store, place.campaign.key(CELL, attempt))
    assert manifest is not None
    return {Path(entry.path).parts[1] for entry in manifest.files}


def end_instances(cloud: Cloud) -> None:
    """End whatever a failed test has left."""
    cloud.clear()
    for instance in cloud.leftovers()["instances"]:
        cloud.kill(instance)
