"""The steps of a cell that keep what was measured, while what they need is away."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.text.errors import PlimsollError, SecretError, StoreError
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout
from plimsoll_airflow.internals.moved import AirflowFailException
from plimsoll_airflow.operators import cell
from plimsoll_airflow.operators.cell import Keep
from plimsoll_airflow.runs.ownership import CellRun

RUN = "campaign__v1-001k-r1"
AWAY_S = 60.0


@pytest.fixture
def clock(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> SteppingClock:
    clock = SteppingClock()
    tools = replace(installation.toolkit, clock=clock)
    monkeypatch.setattr(cell, "toolkit", lambda: tools)
    return clock


@pytest.fixture
def work(installation: Installation, clock: SteppingClock) -> AttemptContext:
    """Provide an attempt of the run whose load is complete, nothing collected yet."""
    installation.open_campaign(instant_definition(variants=1, loads=1))
    tools = replace(installation.toolkit, clock=clock)
    work = begin(tools, "campaign", "v1-001k-r1", CellRun(RUN, 0, "here").token)
    for phase in (actions.provision, actions.deploy, loading.start_load):
        phase(work)
    return work


class Tasks:
    """Answers as a task's context does: the first task of its run has come to that."""

    dag_id, run_id = "cell", RUN

    def __init__(self, first: str) -> None:
        self._first = first

    def get_task_states(self, dag_id: str, *, task_ids: list[str], run_ids: list[str]) -> dict[str, dict[str, str]]:
        assert (dag_id, task_ids, run_ids) == ("cell", ["provision"], [RUN])
        return {RUN: {"provision": self._first}}


def collect(clear_number: int = 0, first: str = "success") -> None:
    params, dag_run = {"campaign_id": "campaign", "cell_id": "v1-001k-r1"}, SimpleNamespace(clear_number=clear_number)
    context: Any = {"run_id": RUN, "params": params, "dag_run": dag_run, "ti": Tasks(first)}
    Keep.execute.__wrapped__(Keep(task_id="collect"), context)  # type: ignore[attr-defined]


def away(call: Callable[..., Any], error: PlimsollError, clock: SteppingClock) -> Callable[..., Any]:
    """Return the call, which fails for the next minute."""
    since = clock.now()

    def called(*given: Any) -> Any:
        if (clock.now() - since).total_seconds() < AWAY_S:
            raise error
        return call(*given)

    return called


@pytest.mark.parametrize("method", ["read", "folders", "upload"])
@pytest.mark.parametrize("error", [StoreError("the store is away"), SecretError("the connection can't be read")])
def test_an_outage_of_a_minute_is_waited_for_since_the_cluster_is_destroyed_next(
    work: AttemptContext, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch, method: str, error: PlimsollError
) -> None:
    monkeypatch.setattr(ObjectStore, method, away(getattr(ObjectStore, method), error, clock))

    collect()

    assert sum(clock.slept) >= AWAY_S
    manifest = layout.MANIFEST.read(work.toolkit.store, work.key)
    assert manifest is not None
    assert manifest.failure is None


def test_a_run_that_began_no_attempt_is_not_waited_for(installation: Installation, clock: SteppingClock) -> None:
    installation.open_campaign(instant_definition(variants=1, loads=1))
    with pytest.raises(AirflowFailException, match="has begun no attempt"):
        collect()
    assert clock.slept == []


def test_a_cleared_run_that_could_begin_nothing_takes_no_earlier_result(work: AttemptContext) -> None:
    with pytest.raises(AirflowFailException, match="has begun no attempt since it was cleared"):
        collect(clear_number=1, first="failed")
    assert layout.MANIFEST.read(work.toolkit.store, work.key) is None


def test_a_task_that_is_cleared_alone_goes_on_with_its_run_s_attempt(work: AttemptContext) -> None:
    collect(clear_number=1)
    assert layout.MANIFEST.read(work.toolkit.store, work.key) is not None
