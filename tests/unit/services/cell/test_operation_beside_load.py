"""A cell whose operation is timed beside its load: the list of steps has room for it, as docs/adding.md says."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition

from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell import steps
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.running import run_cell
from plimsoll.services.cell.steps import Polling, Step, step
from plimsoll.services.store import layout

BEGUN, ENDED = "operation-begun", "operation-ended"


class Operation:
    """Is over at the third look. Its times are on record. The load is seen to run as long as it lasts."""

    def __init__(self, load: Polling) -> None:
        self._load = load
        self._looks: Iterator[str] = iter(("running", "running", "complete"))
        self.told: list[str] = []

    def begin(self, work: AttemptContext) -> None:
        self._note(work, BEGUN)

    def look(self, work: AttemptContext) -> LoadStatus:
        self.look_at_load(work)
        if next(self._looks) == "running":
            return LoadStatus("running")
        self._note(work, ENDED)
        return LoadStatus("complete")

    def look_at_load(self, work: AttemptContext) -> LoadStatus:
        status = self._load.look(work) if ENDED in self.told else LoadStatus("running")
        self.told.append(f"load {status.state}")
        return status

    def _note(self, work: AttemptContext, what: str) -> None:
        work.toolkit.store.write(layout.attempt_file(work.key, what), work.toolkit.clock.now().isoformat().encode())
        self.told.append(what)


def with_operation() -> tuple[Operation, tuple[Step, ...]]:
    """The operation and a cell's steps, in which the load is begun, the operation runs, and the load is awaited."""
    load = step("load")
    assert load.polling is not None
    operation, polling = Operation(load.polling), replace(load.polling, pause_s=lambda _: 0.0)
    operate = Step(
        name="operate",
        does="The operation is over; its begin and its end are on record.",
        role="measure",
        run=operation.begin,
        timeout=timedelta(minutes=1),
        share=0.0,
        polling=replace(polling, look=operation.look),
    )
    await_load = replace(
        operate, name="load-end", run=lambda _: None, polling=replace(polling, look=operation.look_at_load)
    )
    at = steps.STEPS.index(load)
    return operation, (*steps.STEPS[:at], replace(load, polling=None), operate, await_load, *steps.STEPS[at + 1 :])


def test_an_operation_runs_beside_the_load_and_its_times_are_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation, (operation, changed) = Installation(tmp_path), with_operation()
    campaign = installation.open_campaign(instant_definition())
    monkeypatch.setattr(steps, "STEPS", changed)

    verdict = run_cell(installation.toolkit, "campaign", "v1-001k-r1", "me", print)

    assert verdict.valid, verdict.reasons
    assert operation.told == [BEGUN, *["load running"] * 3, ENDED, "load complete"]
    key, store = campaign.key("v1-001k-r1", 1), installation.toolkit.store
    begun, ended = (
        datetime.fromisoformat(store.read(layout.attempt_file(key, name)).decode()) for name in (BEGUN, ENDED)
    )
    assert begun <= ended
