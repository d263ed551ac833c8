"""The tasks of the DAG `cell`: one attempt at one cell, phase by phase. Each is idempotent."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from airflow.sdk import BaseOperator

from plimsoll.domain.errors import SecretError, StoreError
from plimsoll.services import collecting, phases
from plimsoll.services.attempts import Work, failures_recorded
from plimsoll.services.reaping import destroy_owned
from plimsoll.services.spending import spent_so_far
from plimsoll_airflow import narration
from plimsoll_airflow.attempts import begin_or_resume, find_attempt, require_attempt
from plimsoll_airflow.fencing import end_with_supervisor
from plimsoll_airflow.links import CellPageLink
from plimsoll_airflow.operators.failing import final, overrun_recorded
from plimsoll_airflow.ownership import CellRun, is_of_run
from plimsoll_airflow.run_owners import RunOwners
from plimsoll_airflow.toolkit import toolkit

if TYPE_CHECKING:
    from airflow.sdk import Context


class CellTask(BaseOperator):
    """A task that works at the attempt of its own run. The run's Params say of which campaign and cell."""

    operator_extra_links = [CellPageLink()]

    def pre_execute(self, context: "Context") -> None:  # noqa: ARG002
        """No task outlives its supervisor, or two tries would work at the attempt at once."""
        end_with_supervisor()

    def attempt(self, context: "Context") -> Work:
        """The attempt that this run works at; NotFound when it has begun none."""
        params = context["params"]
        return require_attempt(toolkit(), params["campaign_id"], params["cell_id"], context["run_id"])

    def tell(self, lines: Iterable[str]) -> None:
        """Write sentences to the task's log."""
        for line in lines:
            self.log.info(line)


class PhaseTask(CellTask):
    """A phase whose failure ends the attempt; its reason is kept for `collect` and `judge`."""

    phase: ClassVar[str]

    def execute(self, context: "Context") -> None:
        """Do the phase and say what came of it."""
        with final():
            work = self.attempt(context)
            self.log.info("attempt %s", work.key)
            with overrun_recorded(work, self.phase), failures_recorded(work, self.phase):
                self.tell(self.run_phase(work))

    @abstractmethod
    def run_phase(self, work: Work) -> Iterable[str]:
        """Do it, and say what came of it."""


class Provision(PhaseTask):
    """Begin an attempt, or go on with the one that a killed try of this task has begun, and have its hosts."""

    phase = "provision"

    def attempt(self, context: "Context") -> Work:
        """The attempt of this pass of the run."""
        params, run = context["params"], CellRun(context["run_id"], context["dag_run"].clear_number or 0)
        work = begin_or_resume(toolkit(), params["campaign_id"], params["cell_id"], run)
        # Hosts that are kept may still be another run's.
        owners = RunOwners(work.toolkit.owners, context["ti"], run.run_id)
        return Work(replace(work.toolkit, owners=owners), work.key)

    def run_phase(self, work: Work) -> Iterable[str]:
        """The hosts exist and answer."""
        self.tell(_money(work))
        return narration.provisioned(phases.provision(work))


class Deploy(PhaseTask):
    """Bring the database up and take the environment's fingerprint."""

    phase = "deploy"

    def run_phase(self, work: Work) -> Iterable[str]:
        """All nodes are up; what really runs is read back."""
        return narration.deployed(phases.deploy(work))


class Collect(CellTask):
    """Bring everything worth keeping into the store, whatever happened before.

    Errors are worth another try here: the cluster is destroyed next, and with it what was not collected.
    """

    def execute(self, context: "Context") -> None:
        """Write the manifest, last."""
        with final():
            work = self.attempt(context)
        self.tell(narration.collected(collecting.collect(work)))


class Judge(CellTask):
    """Judge the attempt. Fails when the measurement is invalid, never because a service level was missed."""

    def execute(self, context: "Context") -> str:
        """The outcome: met or missed."""
        with final():
            from plimsoll.services.judging import judge

            work = self.attempt(context)
            verdict = judge(work)
            self.tell(narration.judged(verdict))
            if not verdict.valid:
                raise ValueError(f"{work.key} is invalid: {'; '.join(verdict.reasons)}")
        return verdict.outcome


class Destroy(CellTask):
    """Destroy the attempt's cluster and verify that it is gone. Worth another try, unlike the other phases."""

    def execute(self, context: "Context") -> None:
        """Nothing of the attempt is left, nor its cluster, unless hosts are kept for other cells.

        A store that is out of reach fails the task, after the hosts have ended.
        """
        params, tools = context["params"], toolkit()
        try:
            work = find_attempt(tools, params["campaign_id"], params["cell_id"], context["run_id"])
        except (StoreError, SecretError):
            for cluster_id in destroy_owned(tools, lambda owner: is_of_run(owner, context["run_id"])):
                self.log.info("the cluster %s is gone", cluster_id)
            raise
        if work is None:
            self.log.info("no attempt was begun, so there is nothing to destroy")
            return
        phases.destroy(work)
        self.tell([narration.destroyed(work)])
        self.tell(_money(work))


def _money(work: Work) -> Iterable[str]:
    return filter(None, [spent_so_far(work.toolkit, work.campaign, work.definition)])
