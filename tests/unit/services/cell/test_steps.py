"""The list of steps, and what is derived from it."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.declared_steps import declare
from tests.support.campaigns.one_cell import run_cell
from tests.support.resolved import only_part

from plimsoll.domain.attempt.status import AttemptProgress, Phase
from plimsoll.services.steps import steps
from plimsoll.services.steps.steps import STEPS, Step, share_done, step_in, usual_phases
from plimsoll.services.store import layout

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DEFINITION = instant_definition(load_s=100.0)


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def share(phase: Phase, seconds_left: float | None = None) -> float:
    return share_done(AttemptProgress(phase=phase, at=NOW, seconds_left=seconds_left), only_part(DEFINITION))


def test_names_are_the_ids_that_runs_of_earlier_versions_have_in_airflow() -> None:
    assert [step.name for step in STEPS] == ["provision", "deploy", "load", "collect", "destroy", "judge"]


def test_steps_and_progress_name_the_same_phases_in_the_same_order() -> None:
    told = [phase for step in STEPS for phase in step.phases]

    assert ("waiting", *told, "done") == get_args(Phase)


def test_shares_of_all_steps_are_the_whole() -> None:
    assert sum(step.share for step in STEPS) == pytest.approx(1)


@pytest.mark.parametrize(
    ("phase", "part"),
    [("waiting", 0.0), ("provision", 0.0), ("deploy", 0.02), ("collect", 0.97), ("judge", 0.98), ("done", 1.0)],
)
def test_what_is_over_when_a_step_begins(phase: Phase, part: float) -> None:
    assert share(phase) == part


def test_the_clock_tells_how_much_of_a_load_is_over() -> None:
    duration = DEFINITION.timing.duration.total_seconds()

    assert share("populate") == 0.05
    assert share("warm-up", seconds_left=duration / 2) == 0.51
    assert share("load", seconds_left=0.0) == 0.97
    assert share("load", seconds_left=2 * duration) == 0.05


def test_a_cell_takes_its_load_and_a_little_more() -> None:
    assert sum(usual_phases(only_part(DEFINITION)).values()) == DEFINITION.timing.duration.total_seconds() + 45


def test_a_step_that_is_added_runs_in_its_place_and_shows_in_progress(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.open_campaign(instant_definition())
    ran: list[str] = []
    declared = {step.name: step.run for step in STEPS}

    def noting(name: str, run: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def noted(work: Any) -> Any:
            ran.append(name)
            return run(work)

        return noted

    for name, run in declared.items():
        declare(monkeypatch, name, run=noting(name, run))
    settle = Step(
        name="settle",
        purpose="Compactions have come to rest.",
        role="measure",
        run=lambda _: ran.append("settle"),
        timeout=timedelta(minutes=1),
        share=0.0,
    )
    monkeypatch.setattr(steps, "STEPS", (*steps.STEPS[:2], settle, *steps.STEPS[2:]))

    assert run_cell(installation.toolkit, "campaign", "v1-001k-r1", "me", print).valid
    assert ran == ["provision", "deploy", "settle", "load", "collect", "destroy", "judge"]


def test_progress_passes_through_the_phases_of_the_steps_in_order(installation: Installation) -> None:
    campaign = installation.open_campaign(instant_definition())
    run_cell(installation.toolkit, "campaign", "v1-001k-r1", "me", print)

    progress = layout.PROGRESS.read(installation.toolkit.store, campaign.key("v1-001k-r1", 1))
    assert progress is not None
    names = [step.name for phase in list[Any](progress.phases) if (step := step_in(phase))]
    assert list(Counter(names)) == ["provision", "deploy", "load", "collect", "judge"]
