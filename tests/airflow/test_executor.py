"""When the executor of `make up` lets the scheduler go on, and when it makes it wait."""

from collections.abc import Sequence
from typing import Any

import pytest
from airflow.configuration import conf
from airflow.executors.local_executor import LocalExecutor
from airflow.utils.state import TaskInstanceState

from plimsoll_airflow.internals.executor import FOLLOW_UP_S, FULL_WAIT_S, IDLE_WAIT_S, PromptLocalExecutor

PARALLELISM = 12


class Executor(PromptLocalExecutor):
    """Sends nothing. Keeps its waits; the ends of processes arrive during each."""

    def __init__(self, ends_meanwhile: Sequence[Any] = ()) -> None:
        super().__init__(parallelism=PARALLELISM)  # type: ignore[no-untyped-call]
        self.waits: list[float] = []
        self.ends_meanwhile = ends_meanwhile

    def _await_wakeup(self, longest_s: float) -> None:
        self.waits.append(longest_s)

    def _read_results(self) -> None:
        if self.waits:
            self.event_buffer.update(dict.fromkeys(self.ends_meanwhile, (TaskInstanceState.SUCCESS, None)))


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """`heartbeat` of Airflow's own executor sends all tasks, without any process."""
    monkeypatch.setattr(LocalExecutor, "heartbeat", lambda self: self.queued_tasks.clear())


def _keys(number: int, kind: str = "task") -> list[Any]:
    return [f"{kind} {place}" for place in range(number)]


def beat(
    *, sends: int = 0, running: int = 0, ended: Sequence[Any] = (), ends_meanwhile: Sequence[Any] = ()
) -> Executor:
    executor = Executor(ends_meanwhile)
    executor.queued_tasks.update(dict.fromkeys(_keys(sends)))
    executor.running.update(_keys(running, "running"))
    executor.event_buffer.update(zip(_keys(len(ended)), ((state, None) for state in ended), strict=True))
    executor.heartbeat()
    return executor


def test_it_waits_when_there_is_nothing_to_do() -> None:
    assert beat().waits == [IDLE_WAIT_S]


def test_it_waits_after_it_has_sent_tasks_but_not_long() -> None:
    assert beat(sends=PARALLELISM - 1).waits == [FOLLOW_UP_S]


def test_it_does_not_wait_where_more_tasks_may_be_due_than_a_loop_asks_for() -> None:
    assert beat(sends=conf.getint("scheduler", "max_tis_per_query")).waits == []


def test_where_all_slots_are_taken_it_waits_a_moment_and_not_when_one_became_free() -> None:
    assert beat(sends=2, running=PARALLELISM - 2).waits == [FULL_WAIT_S]
    assert beat(running=PARALLELISM).waits == [FULL_WAIT_S]
    assert beat(running=PARALLELISM, ended=[TaskInstanceState.SUCCESS]).waits == []


def test_it_waits_although_processes_have_ended_well() -> None:
    assert beat(ended=[TaskInstanceState.SUCCESS] * 2).waits == [IDLE_WAIT_S]


def test_it_does_not_wait_where_a_process_has_failed() -> None:
    assert beat(ended=[TaskInstanceState.SUCCESS, TaskInstanceState.FAILED]).waits == []


def test_it_reports_what_has_ended_while_it_waited() -> None:
    assert beat(ends_meanwhile=["provision"]).event_buffer == {"provision": (TaskInstanceState.SUCCESS, None)}
