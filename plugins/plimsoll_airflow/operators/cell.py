"""The tasks of the DAG `cell`: one for each step of a cell that `plimsoll.services.steps.steps` declares."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from airflow.sdk import BaseOperator, Context, TriggerRule

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.text.errors import NotFound, StoreError
from plimsoll.services.cell.attempt_state import failures_recorded, record_failure
from plimsoll.services.cell.attempts import money_line, runs_again
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.reaping import destroy_owned
from plimsoll.services.retries import PASSING_WHILE_KEEPING, with_retries
from plimsoll.services.steps.steps import OVERTIME, Role, Step, step, steps_of
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals.moved import AirflowFailException, AirflowTaskTimeout, TaskDeferralTimeout
from plimsoll_airflow.internals.supervisor import end_with_parent, has_supervisor
from plimsoll_airflow.runs import log_messages
from plimsoll_airflow.runs.installation import own_installation
from plimsoll_airflow.runs.own_task import (
    RunOwners,
    begin_or_resume,
    final,
    find_attempt,
    pass_of,
    require_attempt,
    require_own_pass,
)
from plimsoll_airflow.runs.ownership import RUNS_AGAIN, CellRunId, is_of_run
from plimsoll_airflow.triggers.load import LoadTrigger
from plimsoll_airflow.wiring.core import toolkit


class StepTask(BaseOperator):
    """A step of the run's own attempt.

    The run's Params give campaign and cell. The task has the name and the time limit of its step. The plugin gives it
    the link to the cell's page (`links`).
    """

    def __init__(self, *, task_id: str, **kwargs: Any) -> None:
        declared = step(task_id)
        super().__init__(task_id=task_id, execution_timeout=declared.timeout, doc=declared.purpose, **kwargs)

    @property
    def step(self) -> Step:
        return step(self.task_id)

    def pre_execute(self, context: Context) -> None:  # noqa: ARG002
        """End the task with its supervisor, as otherwise two tries could work on the attempt at once."""
        if has_supervisor():
            end_with_parent()

    def attempt(self, context: Context) -> AttemptContext:
        """Return the attempt of this run. Raises NotFound when it has begun none."""
        return require_attempt(toolkit(), cell_of(context), context["run_id"], own_installation())

    def log_lines(self, lines: Iterable[str]) -> None:
        for line in filter(None, lines):
            self.log.info(line)


class Measure(StepTask):
    """A step whose failure ends the attempt. Its reason is kept for `collect` and `judge`.

    If the step starts something that must be waited for, the triggerer does that.
    """

    def execute(self, context: Context) -> None:
        with final():
            work = self.attempt(context)
            self.log.info("attempt %s", work.key)
            with _overrun_recorded(work, self.step.name), failures_recorded(work, self.step.name):
                self.log_lines(self.beforehand(work))
                self.log_lines(log_messages.came_of(self.step, self.step.run(work)))
        if self.step.polling is not None:
            since = work.toolkit.clock.now().isoformat()
            self.defer(
                trigger=LoadTrigger(str(work.key), context["run_id"], self.step.name, since),
                method_name="end",
                # The trigger gives up before that. This is for a time without any triggerer.
                timeout=self.step.polling.longest(work.part) + 2 * OVERTIME,
            )

    def beforehand(self, work: AttemptContext) -> Iterable[str]:  # noqa: ARG002
        """Return sentences for the log before the step runs."""
        return ()

    def resume_execution(self, next_method: str, next_kwargs: dict[str, Any] | None, context: Context) -> None:
        """Go on after the wait. If nobody has looked until its time was over, record that and fail for good."""
        try:
            super().resume_execution(next_method, next_kwargs, context)
        except TaskDeferralTimeout as error:
            with final():
                reason = f"{self.step.name}: took longer than it may, and no triggerer has looked"
                record_failure(self.attempt(context), reason)
                raise AirflowFailException(reason) from error

    def end(self, context: Context, event: str) -> None:  # noqa: ARG002
        """Fail with the trigger's reason. When the load completes, the trigger itself ends the task."""
        if event != "success":
            raise AirflowFailException(event)


class Provision(Measure):
    """The first step: it begins an attempt, or continues the one that a killed try of this task has begun."""

    def attempt(self, context: Context) -> AttemptContext:
        run, cell = pass_of(context), cell_of(context)
        work = begin_or_resume(toolkit(), cell.campaign_id, cell.cell_id, run)
        # Hosts that are kept may still be another run's.
        owners = RunOwners(work.toolkit.owners, context["ti"], run)
        return AttemptContext(replace(work.toolkit, owners=owners), work.key)

    def beforehand(self, work: AttemptContext) -> Iterable[str]:
        return [money_line(work)]


class Keep(StepTask):
    """A step that runs whatever happened before.

    An outage is waited for, because the cluster is destroyed next, with everything that was not collected.
    """

    def __init__(self, *, task_id: str, **kwargs: Any) -> None:
        super().__init__(task_id=task_id, trigger_rule=TriggerRule.ALL_DONE, **kwargs)

    def execute(self, context: Context) -> None:
        run, again = partial(self._run, context), PASSING_WHILE_KEEPING
        result = with_retries(toolkit().clock, run, self.log.warning, again=again)
        self.log_lines(log_messages.came_of(self.step, result))

    def _run(self, context: Context) -> object:
        try:
            work = self.attempt(context)
            require_own_pass(work, context, steps_of("measure")[0].name)
        except NotFound as error:  # nothing was begun, and no further try finds anything
            raise AirflowFailException(str(error)) from error
        return self.step.run(work)


class Judge(StepTask):
    """Judge the attempt. Fails when the measurement is invalid, never because a service level was missed."""

    def execute(self, context: Context) -> str:
        """Return the outcome: met or missed."""
        with final():
            work = self.attempt(context)
            verdict = self.step.run(work)
            self.log_lines(log_messages.came_of(self.step, verdict))
            if not isinstance(verdict, Verdict):
                raise TypeError(f"{self.task_id} gave no verdict")
            if not verdict.valid:
                if runs_again(CampaignStore(work.store, work.key.campaign_id), work.key.cell_id):
                    # Before the task fails: when the run ends, this keeps the slot of the pool for the cell
                    context["ti"].xcom_push(key=RUNS_AGAIN, value=True)
                raise ValueError(f"{work.key} is invalid: {'; '.join(verdict.reasons)}")
        return verdict.outcome


class CleanUp(StepTask):
    """Destroy the attempt's cluster and verify that it is gone. Unlike the measuring steps it is retried."""

    def execute(self, context: Context) -> None:
        """Remove the attempt from all hosts, and destroy its cluster unless its hosts are kept for other cells.

        An unreachable store fails the task, but only after the hosts have ended.
        """
        tools, run_id, mine = toolkit(), context["run_id"], own_installation()
        try:
            work = find_attempt(tools, cell_of(context), run_id, mine)
        except StoreError:
            for cluster_id in destroy_owned(tools, lambda owner: is_of_run(owner, run_id, mine)):
                self.log.info("the cluster %s is gone", cluster_id)
            raise
        if work is None:
            self.log.info("no attempt was begun, so there is nothing to destroy")
            return
        self.step.run(work)
        self.log_lines([log_messages.destroyed(work), money_line(work)])


@contextmanager
def _overrun_recorded(work: AttemptContext, phase: str) -> Iterator[None]:
    try:
        yield
    except AirflowTaskTimeout as timeout:
        record_failure(work, f"{phase}: took longer than its task may")
        raise AirflowFailException(f"{work.key}: {phase} took longer than its task may") from timeout


def cell_of(context: Context) -> CellRunId:
    return CellRunId(context["params"]["campaign_id"], context["params"]["cell_id"])


_BY_ROLE: Mapping[Role, type[StepTask]] = {"measure": Measure, "keep": Keep, "judge": Judge, "clean-up": CleanUp}
TASK_CLASSES: tuple[type[StepTask], ...] = (Provision, *_BY_ROLE.values())
"""The classes of all tasks that `tasks_of` makes."""


def tasks_of(role: Role) -> list[StepTask]:
    """Return a task for each step with that role, in order, in the current DAG."""
    begins = steps_of("measure")[0]
    return [(Provision if known is begins else _BY_ROLE[role])(task_id=known.name) for known in steps_of(role)]
