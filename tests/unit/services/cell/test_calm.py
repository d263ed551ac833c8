"""Waiting for calm hosts: bounded, told, and only where the definition asks for it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import NoSampler
from tests.support.campaigns.one_cell import run_cell

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.host_bounds import HostActivity
from plimsoll.ports.host import Host
from plimsoll.services.cell.actions import provision
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.preflight import await_calm
from plimsoll.services.retries import waiting_reported_to
from plimsoll.services.toolkit import Toolkit

CELL = "v1-001k-r1"
CALM, BUSY = HostActivity(0.01, 0.0, None, 8e9), HostActivity(0.9, 0.0, None, 8e9)
PATIENT = instant_definition().model_copy(update={"wait_for_calm": timedelta(seconds=25)})


class Looks(NoSampler):
    """Tells these activities, one at each look, and the last one again and again."""

    def __init__(self, *told: HostActivity | None) -> None:
        self._told, self.count = told, 0

    def look(self, host: Host, environments: frozenset[str] = frozenset()) -> HostActivity | None:  # type: ignore[override]
        """Return the next one."""
        self.count += 1
        return self._told[min(self.count, len(self._told)) - 1]


@pytest.fixture
def work(installation: Installation, tools: Toolkit) -> AttemptContext:
    installation.open_campaign(PATIENT, "patient")
    begun = begin(tools, "patient", CELL, "me")
    provision(begun)
    return begun


def waited(work: AttemptContext, looks: Looks) -> Sequence[str]:
    """What was told while one host was looked at."""
    told: list[str] = []
    with waiting_reported_to(told.append):
        await_calm(AttemptContext(replace(work.toolkit, sampler=looks), work.key), work.nodes(work.cluster())[:1])
    return told


def test_it_waits_until_the_hosts_are_calm_and_tells_for_what(work: AttemptContext, clock: SteppingClock) -> None:
    told = waited(work, Looks(BUSY, BUSY, CALM))
    assert len(told) == 2
    assert told[0].startswith("waiting for calm hosts until ")
    assert told[0].endswith("node1: other programs take 90% of its processors")
    assert clock.slept == [10.0, 10.0]


def test_it_gives_up_after_the_time_and_the_cell_goes_on(work: AttemptContext, clock: SteppingClock) -> None:
    told = waited(work, Looks(BUSY))
    assert told[-1].startswith("the hosts are not calm after 25s, the cell goes on: node1: other programs take 90%")
    assert sum(clock.slept) == 30.0


def test_what_can_t_be_told_counts_as_calm(work: AttemptContext) -> None:
    assert waited(work, Looks(None)) == []


def test_nobody_looks_where_the_definition_does_not_ask(tools: Toolkit) -> None:
    looks = Looks(BUSY)
    assert run_cell(replace(tools, sampler=looks), "campaign", CELL, "me", print).valid
    assert looks.count == 0


def test_a_cell_waits_before_its_database_starts_and_its_hosts_live_as_much_longer(
    installation: Installation, tools: Toolkit
) -> None:
    installation.open_campaign(PATIENT, "patient")
    looks = Looks(BUSY, CALM)
    assert run_cell(replace(tools, sampler=looks), "patient", CELL, "me", print).valid
    assert looks.count > 1
    assert resolve(PATIENT).declared_time - resolve(instant_definition()).declared_time == timedelta(seconds=25)
