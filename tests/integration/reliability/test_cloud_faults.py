"""Faults of the cloud's API and of its instances, each where it strikes in a cell's life.

In `make test-all` all of them strike a cloud that answers at once, and one whose answers lag behind what was done; in
`make test` one of the two.
"""

from dataclasses import replace

import pytest
from tests.cloud.faults import (
    Deny,
    DieAfter,
    Fault,
    LoseAnswer,
    NoAddresses,
    NoBoot,
    NoCapacity,
    StayPending,
    Throttle,
    VcpuLimit,
)
from tests.cloud.lag import Lag
from tests.cloud.lifecycle import Delays
from tests.integration.reliability.struck import CELL, Place
from tests.support.suite.requirements import IS_LONG

from plimsoll.domain.text.errors import PlimsollError
from plimsoll.services.store import layout

FIRST, SECOND = "us-east-1a", "us-east-1b"
UNDER_LAG = (
    "test_hosts_that_never_boot_end_the_attempt_and_the_cell_is_run_again",
    "test_lost_answers_cost_no_second_host_and_no_second_attempt",
    "test_an_instance_that_dies_makes_the_attempt_invalid_and_the_cell_is_run_again",
    "test_hosts_that_may_not_be_terminated_fall_to_the_reaper_and_the_result_counts",
)
"""One of each kind: of launches, of answers, of deaths, of ends."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on a cloud that shows at once what was done, and on one that is 20 s behind."""
    clouds = {"prompt": (Delays(), Lag()), "behind": (Delays(shutting_down=720), Lag.of(20, page=3))}
    chosen = "behind" if metafunc.function.__name__ in UNDER_LAG else "prompt"
    wanted = list(clouds) if IS_LONG else [chosen]
    metafunc.parametrize("behind", [clouds[one] for one in wanted], ids=wanted)


DEATH = ("cluster is gone", "host load: can't be reached")
"""By what a death is noticed: EC2 shows it, or, where it does not yet, the host answers no more."""


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the test boto3's waits between its tries."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


def zones(place: Place) -> list[str]:
    """Return where instances that ran were launched."""
    return [one.zone for one in place.cloud.census.entries.values() if one.running is not None]


@pytest.mark.parametrize(
    "fault",
    [
        NoCapacity(zone=FIRST, instance_type="c5.2xlarge"),
        NoAddresses(subnet=FIRST),
        StayPending(zone=FIRST, times=3),
    ],
    ids=["no-capacity", "no-addresses", "stay-pending"],
)
def test_a_zone_that_has_no_hosts_to_give_moves_the_cell(place: Place, fault: Fault) -> None:
    if isinstance(fault, NoAddresses):
        fault = replace(fault, subnet=place.cloud.landscape.subnets[fault.subnet])
    place.cloud.fault(fault)
    assert place.run().valid
    assert zones(place)[-4:] == [SECOND] * 4
    place.assert_counts_once()


@pytest.mark.parametrize("fault", [NoCapacity(), VcpuLimit(vcpus=8)], ids=["no-capacity", "vcpu-limit"])
def test_a_region_without_room_is_waited_for(place: Place, fault: Fault) -> None:
    number = place.cloud.fault(fault)
    place.moments.when["; waiting"] = lambda: place.cloud.clear(number)
    assert place.run().valid
    place.assert_counts_once()


def test_patience_ends_and_the_cell_is_run_again(place: Place) -> None:
    place.cloud.fault(VcpuLimit(vcpus=8))
    verdict = place.run()
    assert not verdict.valid
    assert "no room within 0:30:00" in verdict.reasons[0]
    assert place.cloud.nothing_left()
    place.cloud.clear()
    assert place.run().valid
    place.assert_counts_once(attempts=2)


def test_hosts_that_never_boot_end_the_attempt_and_the_cell_is_run_again(place: Place) -> None:
    place.cloud.fault(NoBoot(times=1))
    verdict = place.run()
    assert verdict.reasons[0].startswith("provision: hosts were not ready within 0:01:00: ")
    assert place.cloud.nothing_left(), place.cloud.leftovers()
    assert place.run().valid
    place.assert_counts_once(attempts=2)


def test_throttling_is_absorbed_in_every_phase(place_with_bucket: Place) -> None:
    place_with_bucket.cloud.fault(Throttle(share=0.4))
    assert place_with_bucket.run().valid
    place_with_bucket.assert_counts_once()


def test_lost_answers_cost_no_second_host_and_no_second_attempt(place_with_bucket: Place) -> None:
    place = place_with_bucket
    for action in ("CreatePlacementGroup", "RunInstances", "DescribeInstances", "PutObject", "TerminateInstances"):
        place.cloud.fault(LoseAnswer(action=action, times=1))
    assert place.run().valid
    assert not place.cloud.faults.all(), "not all have struck"
    assert place.launched() == 4
    place.assert_counts_once()


@pytest.mark.parametrize(("phase", "role"), [("deploy", "load"), ("load", "node")])
def test_an_instance_that_dies_makes_the_attempt_invalid_and_the_cell_is_run_again(
    place: Place, phase: str, role: str
) -> None:
    place.moments.within[phase] = lambda: place.cloud.kill(place.instance(role))
    verdict = place.run()
    assert not verdict.valid
    assert verdict.reasons[0].startswith(f"{phase}: ")
    assert any(words in verdict.reasons[0] for words in DEATH)
    assert place.cloud.nothing_left(), place.cloud.leftovers()
    assert place.run().valid
    place.assert_counts_once(attempts=2)


def test_an_instance_that_dies_when_it_is_no_longer_needed_costs_nothing(place: Place) -> None:
    place.moments.within["destroy"] = lambda: place.cloud.kill(place.instance("node"))
    assert place.run().valid
    assert not place.moments.within, "none has died"
    place.assert_counts_once()


def test_dying_hardware_strikes_at_its_time(place: Place) -> None:
    place.cloud.fault(DieAfter(zone=FIRST, times=1, seconds=600))
    place.moments.within["load"] = lambda: place.cloud.skip(601)
    assert not place.run().valid
    assert place.run().valid
    place.assert_counts_once(attempts=2)


def test_hosts_that_may_not_be_launched_end_the_attempt_and_the_permission_is_named(place: Place) -> None:
    place.cloud.fault(Deny(action="RunInstances"))
    assert "allow the action ec2:RunInstances" in place.run().reasons[0]
    assert place.cloud.nothing_left(), place.cloud.leftovers()
    place.cloud.clear()
    assert place.run().valid
    place.assert_counts_once(attempts=2)


@pytest.mark.parametrize("phase", ["deploy", "load"])
def test_hosts_that_may_not_be_looked_for_end_by_the_ids_on_record(place: Place, phase: str) -> None:
    """They answer at their addresses on record, so what they measure counts."""
    place.moments.within[phase] = lambda: place.cloud.fault(Deny(action="DescribeInstances"))
    with pytest.raises(PlimsollError, match="allow the action ec2:DescribeInstances"):
        place.run()
    assert all(one.shut_down is not None for one in place.cloud.census.entries.values())
    place.cloud.clear()
    place.reap()
    place.assert_counts_once()


def test_hosts_that_may_not_be_terminated_fall_to_the_reaper_and_the_result_counts(place: Place) -> None:
    place.moments.within["collect"] = lambda: place.cloud.fault(Deny(action="TerminateInstances"))
    with pytest.raises(PlimsollError, match="allow the action ec2:TerminateInstances"):
        place.run()
    manifest = layout.MANIFEST.read(place.campaign.store, place.campaign.key(CELL, 1))
    assert manifest is not None
    assert manifest.failure is None
    place.cloud.clear()
    assert [str(one.id) for one in place.reap().destroyed] == [f"azul/{CELL}/1"]
    assert place.cloud.nothing_left(), place.cloud.leftovers()
