"""What people are told of campaigns: that one ended incomplete, did not start when it was due, or will end too late."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.dag_bag import DagBag
from tests.support.campaigns.one_cell import run_cell

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.strategy import Search
from plimsoll.domain.keys.timing import Timing
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals import inventory
from plimsoll_airflow.operators.regular import WatchSchedules
from plimsoll_airflow.runs.notices import tell_if_late, when_incomplete
from plimsoll_airflow.wiring.core import timetable

DAGS = Path(__file__).resolve().parents[2] / "dags"
NOON = datetime(2026, 3, 29, 12, tzinfo=UTC)
HOURLY = Timing(duration=timedelta(hours=1), warmup=timedelta(0))


def nightly(*notify: str, timezone: str = "UTC") -> Definition:
    changes = {"schedule": "0 3 * * *", "timezone": timezone, "notify": notify}
    return instant_definition("nightly").model_copy(update=changes)


@pytest.fixture
def notices_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide the file that notices are written to."""
    file = tmp_path / "told"
    notifier = {
        "notifier": "tests.fakes.notifier.ToFile",
        "path": str(file),
        "text": "{{ notice_title }}\n{{ notice }}",
    }
    monkeypatch.setenv("PLIMSOLL_NOTIFIER", json.dumps(notifier))
    return file


class Runs:
    """Answers as a task's context does: which DAGs are paused, and the runs there are of the DAG `nightly`."""

    def __init__(self, started: Sequence[datetime] = (), live: int = 0, *, paused: bool = False) -> None:
        self._started, self._live, self._paused = started, live, paused

    def get_dag(self, dag_id: str) -> Any:
        assert dag_id == "nightly"
        return SimpleNamespace(is_paused=self._paused)

    def get_dr_count(
        self, dag_id: str, logical_dates: Sequence[datetime] | None = None, states: Sequence[str] | None = None
    ) -> int:
        assert dag_id == "nightly"
        return self._live if states else sum(date in self._started for date in logical_dates or ())


def watch(runs: Runs, *, since: datetime | None = NOON - timedelta(days=1)) -> list[str]:
    context: Any = {"ti": runs, "dag_run": SimpleNamespace(start_date=NOON), "prev_start_date_success": since}
    return WatchSchedules(task_id="watch").execute(context)


def due_times(definition: Definition, since: datetime, until: datetime) -> list[datetime]:
    schedule = timetable(definition)
    assert schedule is not None
    return list(inventory.due_times(schedule, since, until))


def test_every_due_time_is_found_in_the_schedules_own_time_zone() -> None:
    friday, monday = datetime(2026, 3, 27, 12, tzinfo=UTC), datetime(2026, 3, 30, 12, tzinfo=UTC)

    found = due_times(nightly(timezone="Europe/Paris"), friday, monday)

    # Summer time begins on the 29th.
    assert [at.astimezone(UTC).strftime("%d %H:%M") for at in found] == ["28 02:00", "29 01:00", "30 01:00"]


def test_a_time_counts_once_and_its_own_end_belongs_to_it() -> None:
    due = datetime(2026, 3, 29, 3, tzinfo=UTC)
    assert due_times(nightly(), due - timedelta(hours=1), due) == [due]
    assert due_times(nightly(), due, due + timedelta(hours=1)) == []


def test_a_definition_without_a_schedule_is_never_due() -> None:
    assert timetable(instant_definition()) is None


def test_a_campaign_that_did_not_start_is_told_with_the_reason(installation: Installation, notices_file: Path) -> None:
    installation.define(nightly("missed-schedule"))

    watch(Runs(live=1))

    title, line, *_ = notices_file.read_text().splitlines()
    assert title == "Plimsoll: not every scheduled campaign has started"
    assert (
        line == "nightly: the campaign due at 2026-03-29 03:00 UTC has not started: an earlier one is still under way"
    )


def test_of_one_that_nothing_kept_from_starting_it_is_asked_whether_its_dag_was_paused_then(
    installation: Installation,
) -> None:
    installation.define(nightly("missed-schedule"))

    (line,) = watch(Runs())

    assert line.endswith("none is under way; was Airflow down, short of slots, or the DAG still paused at that time?")


@pytest.mark.parametrize("runs", [Runs(started=[datetime(2026, 3, 29, 3, tzinfo=UTC)]), Runs(paused=True)])
def test_one_that_has_started_or_is_paused_is_not_missed(
    installation: Installation, notices_file: Path, runs: Runs
) -> None:
    installation.define(nightly("missed-schedule"))

    assert watch(runs) == []
    assert not notices_file.exists()


def test_the_first_look_goes_back_an_hour(installation: Installation) -> None:
    installation.define(nightly("missed-schedule"))

    assert watch(Runs(), since=None) == []


def test_there_is_a_dag_that_watches_only_where_a_definition_asks_for_it(installation: Installation) -> None:
    def dag_ids() -> set[str]:
        return set(DagBag(dag_folder=str(DAGS), bundle_path=DAGS, bundle_name="dags-folder").dags)

    installation.define(nightly("incomplete"))
    assert "schedules" not in dag_ids()
    installation.define(nightly("missed-schedule"))
    assert "schedules" in dag_ids()


def test_a_campaign_that_ended_incomplete_is_told_with_what_is_missing(
    installation: Installation, notices_file: Path
) -> None:
    definition = instant_definition(variants=1, loads=2).model_copy(update={"notify": ("incomplete",)})
    installation.open_campaign(definition)
    installation.faults.plant("v1-002k-r1", "load")
    for cell_id in ("v1-001k-r1", "v1-002k-r1"):
        run_cell(installation.toolkit, "campaign", cell_id, "owner", print)
    send_notice = when_incomplete(definition)
    assert send_notice is not None

    run = SimpleNamespace(conf={"campaign_id": "campaign"}, run_after=NOON)
    send_notice({"run_id": "manual__1", "reason": "task_failure", "dag_run": run})

    text = notices_file.read_text()
    assert text.startswith("Plimsoll: a campaign of instant has ended incomplete\n")
    assert "run manual__1 of the DAG instant failed: task_failure\ncampaign: campaign\n" in text
    assert (
        "cells with a valid attempt: 1 of 2\nv1-002k-r1, attempt 1: load: the load generator was told to fail" in text
    )


class Tasks:
    """Answers as a task's context does: the state of `next_round` in the run `manual__1`."""

    dag_id = "instant"

    def __init__(self, next_round: str) -> None:
        self._next_round = next_round

    def get_task_states(self, dag_id: str, task_ids: Sequence[str], run_ids: Sequence[str]) -> Any:
        assert (dag_id, task_ids, run_ids) == ("instant", ["next_round"], ["manual__1"])
        return {"manual__1": {"next_round": self._next_round}}


@pytest.mark.parametrize(
    ("ti", "is_told"),
    [(Tasks("success"), False), (Tasks("failed"), True), (Tasks("skipped"), True), (SimpleNamespace(), True)],
)
def test_of_a_red_round_nobody_is_told_while_another_one_follows(
    installation: Installation, notices_file: Path, ti: object, *, is_told: bool
) -> None:
    search = {"notify": ("incomplete",), "strategy": Search()}
    definition = instant_definition(variants=1, loads=2).model_copy(update=search)
    installation.open_campaign(definition)
    send_notice = when_incomplete(definition)
    assert send_notice is not None

    run = SimpleNamespace(conf={"campaign_id": "campaign"}, run_after=NOON)
    send_notice({"run_id": "manual__1", "reason": "task_failure", "dag_run": run, "ti": ti})

    assert notices_file.exists() == is_told


def test_a_campaign_that_was_refused_is_told_too(installation: Installation, notices_file: Path) -> None:
    send_notice = when_incomplete(nightly("incomplete"))
    assert send_notice is not None

    send_notice({"run_id": "scheduled__1", "dag_run": SimpleNamespace(conf=None, run_after=NOON)})

    assert "campaign: nightly-20260329t120000" in notices_file.read_text()


def test_nobody_is_told_of_what_nobody_asked_for() -> None:
    assert when_incomplete(nightly("missed-schedule")) is None


@pytest.mark.parametrize(
    ("finish_by", "notify", "told"),
    [
        (timedelta(hours=3), ("late",), 1),
        (timedelta(hours=6), ("late",), 0),
        (timedelta(hours=3), ("incomplete",), 0),
    ],
)
def test_that_a_campaign_will_end_too_late_is_told_once(
    installation: Installation, notices_file: Path, finish_by: timedelta, notify: tuple[str, ...], told: int
) -> None:
    definition = instant_definition(variants=2, loads=2, parallel=1).model_copy(update={"timing": HOURLY})
    campaign = installation.open_campaign(definition.model_copy(update={"finish_by": finish_by, "notify": notify}))

    for _ in range(2):
        tell_if_late({}, campaign)

    text = notices_file.read_text() if notices_file.exists() else ""
    assert text.count("Plimsoll: campaign campaign is late\nit ends about ") == told


def late_campaign(installation: Installation) -> CampaignStore:
    changes = {"finish_by": timedelta(minutes=1), "notify": ("late",), "timing": HOURLY}
    return installation.open_campaign(instant_definition().model_copy(update=changes))


@pytest.mark.parametrize("setting", ["", "{}"])
def test_of_lateness_people_are_told_once_there_is_a_notifier(
    installation: Installation, notices_file: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    campaign = late_campaign(installation)
    with monkeypatch.context() as without:
        without.setenv("PLIMSOLL_NOTIFIER", setting)
        tell_if_late({}, campaign)

    tell_if_late({}, campaign)

    assert "Plimsoll: campaign campaign is late" in notices_file.read_text()


def test_a_notice_of_lateness_that_can_t_be_sent_stops_no_cell_and_is_logged(
    installation: Installation, notices_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    notices_file.mkdir()
    with caplog.at_level("INFO"):
        tell_if_late({}, late_campaign(installation))

    assert "the notice could not be sent: IsADirectoryError" in caplog.text
    assert "Plimsoll: campaign campaign is late\nit ends about " in caplog.text


def test_a_notifier_of_lateness_that_can_t_be_made_stops_no_cell(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PLIMSOLL_NOTIFIER", "{}")
    tell_if_late({}, late_campaign(installation))
    assert "names no notifier" in caplog.text


def test_a_campaign_that_runs_late_is_told_by_the_hourly_look_too(
    installation: Installation, notices_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = late_campaign(installation)
    installation.write_definition("instant", dump_definition(campaign.declared()))
    watch(Runs())
    assert not notices_file.exists(), "nothing of it runs"

    campaign.begin_attempt("v1-001k-r1", "owner", datetime.now(UTC), "0.1.0")
    watch(Runs())
    watch(Runs())
    assert notices_file.read_text().count("Plimsoll: campaign campaign is late") == 1


def test_a_campaign_that_can_not_be_read_keeps_no_other_from_being_told(
    installation: Installation, notices_file: Path
) -> None:
    campaign = late_campaign(installation)
    installation.write_definition("instant", dump_definition(campaign.declared()))
    CampaignStore(campaign.store, "a-newer-one").open(campaign.declared())
    campaign.store.write(layout.DEFINITION.key("a-newer-one"), b"name: instant\na_new_key: 1\n")
    campaign.begin_attempt("v1-001k-r1", "owner", datetime.now(UTC), "0.1.0")
    watch(Runs())
    assert "Plimsoll: campaign campaign is late" in notices_file.read_text()


def test_a_search_that_is_late_says_what_can_still_be_answered(installation: Installation, notices_file: Path) -> None:
    changes = {"finish_by": timedelta(hours=3), "notify": ("late",), "timing": HOURLY, "strategy": Search()}
    campaign = installation.open_campaign(instant_definition(loads=8).model_copy(update=changes))
    tell_if_late({}, campaign)
    assert re.search(r"by then there is time for about \d+ further cells", notices_file.read_text())
