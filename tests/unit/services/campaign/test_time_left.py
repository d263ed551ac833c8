"""The time left of a campaign: it can be believed, also while a phase takes longer than was estimated."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.fakes.installation import instant_definition
from tests.support.resolved import only_part

from plimsoll.domain.attempt.status import AttemptProgress, CellProgress, CellStateName, Phase
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.services.campaign.show.progress import TimeLeft, time_left
from plimsoll.services.campaign.state.completeness import RequestedCells
from plimsoll.services.steps.steps import usual_phases

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
DEFINITION = instant_definition(variants=1, loads=3, load_s=600.0)
LOAD_S = DEFINITION.timing.duration.total_seconds()
USUAL = usual_phases(only_part(DEFINITION))


def cell(number: int, state: CellStateName, runs: bool = False, **began: float) -> CellProgress:
    """Return a cell whose phases began so many seconds after noon; the last of them is its present one."""
    phases = {name.replace("_", "-"): NOON + timedelta(seconds=at) for name, at in began.items()}
    progress = (
        AttemptProgress.model_validate({"phase": list(phases)[-1], "at": max(phases.values()), "phases": phases})
        if phases
        else None
    )
    of = Cell(variant="v1", load_ops_s=1000 * number, repeat=1)
    return CellProgress(cell=of, state=state, attempt=1, runs=runs, progress=progress)


def running(number: int = 1, /, **began: float) -> CellProgress:
    return cell(number, "running", runs=True, **began)


def left(now_s: float, *cells: CellProgress, requested: RequestedCells | None = None, parallel: int = 1) -> TimeLeft:
    definition = DEFINITION.model_copy(update={"max_parallel": parallel})
    return time_left(resolve(definition), cells, NOON + timedelta(seconds=now_s), requested)


def after(phase: Phase) -> float:
    names = list(USUAL)
    return sum(USUAL[name] for name in names[names.index(phase) + 1 :])


def test_a_deployment_that_takes_long_shortens_nothing_of_what_comes_after_it() -> None:
    found = left(45.0, running(provision=0.0, deploy=5.0))

    assert found.seconds == pytest.approx(after("deploy"))
    assert found.longest_over == pytest.approx(40 - USUAL["deploy"])


@pytest.mark.parametrize("phase", ["provision", "deploy", "warm-up", "load", "collect", "judge"])
def test_no_phase_ever_says_that_no_time_is_left(phase: Phase) -> None:
    found = left(7200.0, running(**{phase.replace("-", "_"): 0.0}))

    assert found.seconds is None or found.seconds >= 1
    assert found.over == {running().cell.id: pytest.approx(7200 - USUAL[phase])}


def test_beyond_an_estimate_by_more_than_what_is_left_of_it_nobody_knows_the_time_left() -> None:
    assert left(3600.0, running(deploy=0.0)).seconds is None
    assert left(3600.0, running(1, deploy=0.0), *(cell(n, "waiting") for n in range(2, 300))).seconds is not None


def test_rows_that_are_written_were_never_estimated_so_they_are_not_late() -> None:
    found = left(900.0, running(deploy=0.0, populate=30.0))

    assert (found.seconds, found.longest_over) == (pytest.approx(after("populate")), 0.0)


def test_phases_that_were_seen_are_the_estimate_of_the_next_cells() -> None:
    over = cell(
        1, "met", provision=0, deploy=10, populate=250, warm_up=400, load=500, collect=1000, judge=1020, done=1030
    )

    assert left(0.0, over, cell(2, "waiting")).seconds == pytest.approx(1030)
    late = left(200.0, over, running(2, provision=-10.0, deploy=0.0))
    assert (late.seconds, late.longest_over) == (pytest.approx(1030 - 10 - 200), 0.0)


def test_phases_of_a_running_cell_that_are_over_count_too() -> None:
    deployed = running(1, provision=0.0, deploy=0.0, warm_up=500.0)

    assert left(500.0, deployed, cell(2, "waiting")).seconds == pytest.approx(2 * LOAD_S + 20 + 500)


def test_the_load_generator_knows_when_its_load_ends() -> None:
    told = running(provision=0.0, load=100.0)
    assert told.progress is not None
    told = told.model_copy(update={"progress": told.progress.model_copy(update={"seconds_left": 50.0})})

    assert left(110.0, told).seconds == pytest.approx(40 + after("load"))
    assert left(160.0, told).longest_over == 0.0
    assert left(400.0, told).longest_over == pytest.approx(250 - 15)


def test_a_valid_cell_that_runs_again_takes_its_time() -> None:
    assert left(0.0, cell(1, "met", runs=True, provision=0.0)).seconds == pytest.approx(LOAD_S + 45)


def test_cells_that_are_asked_for_again_are_still_to_come() -> None:
    invalid = cell(1, "invalid", provision=0.0, done=100.0)
    asked = RequestedCells(at=NOON + timedelta(seconds=500), cells=(invalid.cell.id,))

    assert left(500.0, invalid, requested=asked).seconds == pytest.approx(LOAD_S + 45)
    assert left(500.0, invalid).seconds == 0.0
    since = cell(1, "invalid", provision=501.0, done=600.0)
    assert left(700.0, since, requested=asked).seconds == 0.0


def test_the_longest_of_cells_side_by_side_decides() -> None:
    short, long = running(1, provision=0.0, load=5.0, collect=600.0), running(2, provision=600.0)
    assert left(600.0, short, long, parallel=2).seconds == pytest.approx(5 + 595 + 10)
