"""Cells in this process when something beside the measurement goes wrong."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.declared_steps import declare, declare_polling, disturbed, failing
from tests.support.campaigns.one_cell import run_cell

from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.text.errors import CloudOutOfReach, PlimsollError, Problem, Refused, StoreError
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.paid_hosts import note_begun
from plimsoll.services.retries import AWAY_S, SOON_S
from plimsoll.services.steps import running
from plimsoll.services.steps.running import run_cells
from plimsoll.services.steps.steps import step
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

CELLS = ("v1-001k-r1", "v1-002k-r1")


def test_a_cluster_that_resists_costs_neither_its_verdict_nor_the_next_cell(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    installation.faults.plant(CELLS[0], "destroy")
    said: list[str] = []

    first, second = run_cells(tools, "campaign", CELLS, "me", said.append)

    assert first.verdict is not None
    assert first.verdict.valid
    assert second.verdict is not None
    assert second.verdict.valid
    assert (first.remains, second.remains, second.troubles) == (True, False, ())
    assert all("destroy: " in trouble and "was told to resist" in trouble for trouble in first.troubles)
    assert clock.slept == [*SOON_S, *SOON_S]
    assert any("could not be destroyed" in line for line in said)
    assert tools.store.exists(layout.UNDESTROYED.key(first.work.key))


def test_a_cluster_that_resists_for_a_while_is_destroyed_at_the_end(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(monkeypatch, "destroy", run=failing(step("destroy").run, PlimsollError("busy"), 1))

    first, _ = run_cells(tools, "campaign", CELLS, "me", print)

    assert not first.remains
    assert first.troubles
    assert not tools.store.exists(layout.UNDESTROYED.key(first.work.key))
    assert installation.provider.clusters() == []


@pytest.mark.parametrize("name", ["provision", "deploy", "load"])
def test_a_network_that_is_away_for_a_minute_fails_nothing(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    away = CloudOutOfReach("ec2 can't be reached: could not resolve the host")
    declare(monkeypatch, name, run=failing(step(name).run, away, 5))

    assert run_cell(tools, "campaign", CELLS[0], "me", print).valid


def test_one_that_stays_away_fails_the_cell_with_its_reason_and_the_next_one_runs(
    tools: Toolkit, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = CloudOutOfReach("ec2 can't be reached: could not resolve the host")
    declare(monkeypatch, "provision", run=failing(step("provision").run, away, len(AWAY_S) + 1))

    first, second = run_cells(tools, "campaign", CELLS, "me", print)

    assert sum(AWAY_S) > 60
    assert clock.slept == list(AWAY_S)
    assert first.verdict is not None
    assert first.verdict.reasons == ("provision: ec2 can't be reached: could not resolve the host",)
    assert second.verdict is not None
    assert second.verdict.valid


def test_what_can_not_be_collected_is_on_record_and_the_next_cell_runs(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = StoreError("the store is away")
    declare(monkeypatch, "collect", run=failing(step("collect").run, away, len(AWAY_S) + 1))

    first, second = run_cells(tools, "campaign", CELLS, "me", print)

    assert (first.verdict, layout.MANIFEST.read(tools.store, first.work.key)) == (None, None)
    assert [trouble.partition(": ")[2] for trouble in first.troubles] == ["collect: the store is away"]
    assert tools.store.read(layout.FAILURE.key(first.work.key)) == b"collect: the store is away"
    assert second.verdict is not None


def still_populating(clock: SteppingClock) -> Callable[[object], LoadStatus]:
    """Return a look at a load that never ends to populate."""

    def look(_: object) -> LoadStatus:
        assert clock.passed < timedelta(hours=9), "nobody gives it up"
        return LoadStatus("running", "populate")

    return look


@pytest.mark.parametrize(("populating", "longest"), [(None, "1h"), (timedelta(hours=3), "3h")])
def test_populating_that_takes_longer_than_it_may_ends_the_cell_with_that_reason(
    installation: Installation,
    tools: Toolkit,
    clock: SteppingClock,
    monkeypatch: pytest.MonkeyPatch,
    populating: timedelta | None,
    longest: str,
) -> None:
    plain = instant_definition(variants=1, loads=2)
    timing = plain.timing.model_copy(update={"populating": populating})
    installation.open_campaign(plain.model_copy(update={"timing": timing}), "slow")
    declare_polling(monkeypatch, look=still_populating(clock))

    verdict = run_cell(tools, "slow", CELLS[0], "me", print)

    [reason] = verdict.reasons
    assert reason.startswith(
        f"load: populating took longer than {longest}: a new campaign that writes a longer `timing"
    )


def test_populating_is_given_up_when_the_hosts_would_end_before_the_load(
    tools: Toolkit, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy = step("deploy").run

    def slowly(work: AttemptContext) -> object:
        clock.sleep(600)
        return deploy(work)

    declare(monkeypatch, "deploy", run=slowly)
    declare_polling(monkeypatch, look=still_populating(clock))

    verdict = run_cell(tools, "campaign", CELLS[0], "me", print)

    assert timedelta(hours=1) < clock.passed < timedelta(hours=1, minutes=1)
    [reason] = verdict.reasons
    assert reason == "load: populating took so long that the hosts would end before the load, at 13:00 UTC"


def test_a_load_that_runs_on_for_ever_ends_the_cell_with_that_reason(
    tools: Toolkit, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare_polling(monkeypatch, look=lambda work: replace(still_populating(clock)(work), phase="load"))

    [reason] = run_cell(tools, "campaign", CELLS[0], "me", print).reasons

    assert reason == "load: it took longer than 4220s"


def test_ctrl_c_puts_the_attempt_on_record_as_ended_and_leaves_no_cluster(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    declare(monkeypatch, "deploy", run=interrupted)

    with pytest.raises(KeyboardInterrupt):
        run_cells(tools, "campaign", CELLS, "me", print)

    key = CampaignStore(tools.store, "campaign").key(CELLS[0], 1)
    assert tools.store.read(layout.FAILURE.key(key)) == b"cancelled by a signal, such as Ctrl-C"
    assert installation.provider.clusters() == []
    assert installation.attempts("campaign") == {CELLS[0]: [1]}


def test_an_attempt_that_can_not_be_begun_ends_it_all(tools: Toolkit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "begin", failing(begin, StoreError("the store is away"), 99))

    with pytest.raises(StoreError, match="the store is away"):
        run_cells(tools, "campaign", CELLS, "me", print)


def test_an_attempt_whose_begin_failed_half_way_is_gone_on_with(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = failing(note_begun, StoreError("the store is away"), 1)
    monkeypatch.setattr("plimsoll.services.cell.attempts.note_begun", away)

    assert run_cell(tools, "campaign", CELLS[0], "me", print).valid

    assert installation.attempts("campaign") == {CELLS[0]: [1]}


def test_a_cluster_that_resisted_is_destroyed_also_where_the_run_ends_with_an_error(
    installation: Installation, tools: Toolkit
) -> None:
    def cells() -> Iterator[str]:
        installation.faults.plant(CELLS[0], "destroy")
        yield CELLS[0]
        installation.faults.heal(CELLS[0])
        raise Refused([Problem("budget", "has no room for another cell")])

    with pytest.raises(Refused, match="no room"):
        run_cells(tools, "campaign", cells(), "me", print)

    assert installation.provider.clusters() == []


def test_lines_of_a_load_are_shown_when_the_phase_changes_and_then_every_few_seconds(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at a load takes a second here, and "populate" stood there once for each."""
    statuses = iter(
        [LoadStatus("running", "populate")] * 8
        + [LoadStatus("running", "load", 100, float(left)) for left in range(12, 0, -1)]
    )
    declare_polling(monkeypatch, look=lambda _: next(statuses, LoadStatus("complete", "load")), pause_s=lambda _: 1.0)
    said: list[str] = []

    run_cell(tools, "campaign", CELLS[0], "me", said.append)

    lines = [line.partition(": ")[2] for line in said if "populate" in line or "ops/s" in line]
    assert lines == ["populate", *(f"load, 100 ops/s, {left} s left" for left in (12, 7, 2))]


def test_a_disturbed_cell_runs_again_at_once_and_the_next_one_follows(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed(monkeypatch, times=1)
    said: list[str] = []

    ran = run_cells(tools, "campaign", CELLS, "me", said.append)

    assert [(one.work.key.cell_id, one.work.key.attempt) for one in ran] == [
        (CELLS[0], 1),
        (CELLS[0], 2),
        (CELLS[1], 1),
    ]
    assert [one.verdict.outcome for one in ran if one.verdict] == ["invalid", "met", "met"]
    assert f"{CELLS[0]}: noise disturbed it, so it runs again" in said


def test_a_cell_that_stays_disturbed_runs_as_often_as_its_definition_lets_it_each_time_it_is_asked_for(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = instant_definition().model_copy(update={"disturbance": Disturbance(tries=3)})
    installation.open_campaign(definition, "noisy")
    disturbed(monkeypatch, times=100)

    for attempts in ([1, 2, 3], [4, 5, 6]):
        ran = run_cells(tools, "noisy", CELLS[:1], "me", print)
        assert [one.work.key.attempt for one in ran] == attempts


def test_an_attempt_that_is_invalid_for_another_reason_does_not_run_again_at_once(
    installation: Installation, tools: Toolkit
) -> None:
    installation.faults.plant(CELLS[0], "deploy")
    assert [one.work.key.attempt for one in run_cells(tools, "campaign", CELLS[:1], "me", print)] == [1]
