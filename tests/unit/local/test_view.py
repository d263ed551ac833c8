"""What people see of a campaign while it runs."""

import time
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console

from plimsoll.domain.attempt.status import AttemptProgress, CampaignProgress, CellProgress, CellStateName
from plimsoll.domain.campaign.cell import Cell
from plimsoll_airflow.local.screen import MOST_FAILURES, PlainScreen, clock, progress_line, progress_view

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def cell(state: CellStateName, repeat: int = 1, **facts: object) -> CellProgress:
    return CellProgress.model_validate(
        {"cell": Cell(variant="g1", load_ops_s=1500, repeat=repeat), "state": state, **facts}
    )


def campaign(*cells: CellProgress, seconds_left: float | None = 125.0) -> CampaignProgress:
    return CampaignProgress(
        campaign_id="demo-1", title="Two collectors", cells=cells, started_at=NOON, seconds_left=seconds_left
    )


def running(**facts: object) -> CellProgress:
    progress = AttemptProgress.model_validate({"phase": "load", "at": NOON, **facts})
    return cell("running", attempt=2, progress=progress)


def shown(progress: CampaignProgress) -> str:
    output = StringIO()
    Console(file=output, width=160).print(progress_view(progress))
    return output.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "?"), (0, "0:00"), (44.6, "0:45"), (59.7, "1:00"), (725, "12:05"), (9000, "2:30:00"), (3599.9, "1:00:00")],
)
def test_seconds_are_read_as_on_a_clock(seconds: float | None, text: str) -> None:
    assert clock(seconds) == text


def test_the_picture_tells_what_is_done_what_runs_and_when_it_ends() -> None:
    text = shown(
        campaign(cell("met"), cell("missed"), running(achieved_ops_s=1498.6, seconds_left=25), cell("waiting"))
    )
    for part in ("Two collectors", "demo-1", "2 of 4 cells done (1 met, 1 missed, 1 running, 1 waiting)", "2:05 left"):
        assert part in text
    row = next(line for line in text.splitlines() if "load" in line)
    assert row.split() == ["g1-01500-r1", "2", "load", "1,499", "ops/s", "1,500", "ops/s", "0:25"]


def test_populating_as_fast_as_it_goes_is_held_against_no_rate() -> None:
    populating = campaign(running(phase="populate", achieved_ops_s=61_234, seconds_left=25))
    row = next(line for line in shown(populating).splitlines() if "populate" in line)
    assert row.split() == ["g1-01500-r1", "2", "populate", "61,234", "ops/s", "0:25"]
    assert progress_line(populating).endswith("g1-01500-r1 populate 61,234 ops/s, 0:25 left")


def test_progress_speaks_of_the_cells_that_the_run_was_asked_for() -> None:
    cells = cell("met"), cell("running", 2), cell("waiting", 3), cell("waiting", 4)
    line = progress_line(campaign(*cells).model_copy(update={"asked": ("g1-01500-r2",)}))
    assert line.startswith("0 of 1 cell asked for done (1 running), about 2:05 left; 1 of 4 of the campaign are valid")


def test_a_cell_that_has_said_nothing_yet_is_starting() -> None:
    assert "starting" in shown(campaign(cell("running", attempt=1)))


def test_failures_are_told_with_their_reasons_the_newest_only_when_there_are_many() -> None:
    count = MOST_FAILURES + 2
    text = shown(campaign(*(cell("invalid", repeat=n, reason=f"node {n} died [sic]") for n in range(1, count + 1))))
    assert f"g1-01500-r{count} invalid: node {count} died [sic]" in text
    assert "… 2 more" in text
    assert "node 2 died" not in text


def test_one_line_says_the_same() -> None:
    line = progress_line(campaign(cell("met"), running(achieved_ops_s=1500, seconds_left=25, attempted_ops_s=1500)))
    assert line == (
        "1 of 2 cells done (1 met, 1 running), about 2:05 left; g1-01500-r1 load 1,500 ops/s of 1,500 ops/s, 0:25 left"
    )


def test_the_time_left_of_a_campaign_in_rounds_is_of_this_round() -> None:
    line = progress_line(campaign(cell("met"), running()).model_copy(update={"in_rounds": True}))
    assert "1 of 2 cells done (1 met, 1 running), about 2:05 left in this round; " in line


def test_when_nothing_is_left_to_measure_no_time_is_guessed() -> None:
    assert progress_line(campaign(cell("met"), cell("failed"))).endswith("(1 met, 1 failed), measuring is over")


def test_a_log_gets_a_line_when_something_changed_and_it_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.0, 2.0, 7.0, 14.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    output = StringIO()
    plain = PlainScreen(Console(file=output, width=20))
    waiting, met = campaign(cell("waiting")), campaign(cell("met"))
    for progress in (None, waiting, waiting, waiting):
        plain.show(progress)
    assert output.getvalue().splitlines() == ["planning the campaign", progress_line(waiting)]
    assert met != waiting


def test_what_takes_longer_than_expected_says_so_and_by_how_much() -> None:
    slow = running(phase="deploy").model_copy(update={"seconds_over": 200.0})
    line = progress_line(campaign(cell("met"), slow))
    assert "about 2:05 left, longer than expected, by 3:20; g1-01500-r1 deploy, 3:20 longer than expected" in line
    assert "deploy 1,500 ops/s 3:20 longer than expected" in " ".join(shown(campaign(slow)).split())
    nobody_knows = progress_line(campaign(slow, seconds_left=None))
    assert "(1 running), longer than expected, by 3:20; " in nobody_knows
