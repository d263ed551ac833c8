"""The owner of an attempt and its cluster: a run of the DAG `cell`, named by a token that both carry."""

from dataclasses import dataclass
from typing import Self

from plimsoll.domain.hosts.owner import CAMPAIGN_RUN, CELL_RUN
from plimsoll.prefix import PREFIX

CELL_DAG = f"{PREFIX}cell"
REAPER_DAG = f"{PREFIX}reaper"
SCHEDULES_DAG = f"{PREFIX}schedules"
RETENTION_DAG = f"{PREFIX}retention"
PLAN_TASK = "plan"
"""The task of a campaign's DAG that creates the campaign."""
JUDGE_TASK = "judge"
RUNS_AGAIN = "runs_again"
"""The XCom that `judge` leaves where noise disturbed the cell, and its `run_cell` starts the run again."""
APPROVE_TASK = "approve"
"""The task that waits for a person's approval, where the definition asks for one."""
AWAITS_ANSWER = ("awaiting_input", "deferred")
"""The states in which that task waits: of Airflow 3.3, and of earlier ones."""
RUN_CELL_TASK = "run_cell"
"""The mapped task that starts the run of a cell and waits for its end."""
CLUSTERS_POOL = f"{PREFIX}clusters"
"""The pool of that task. It bounds how many clusters live at once, over all campaigns."""
NEXT_ROUND_TASK = "next_round"
"""The task that starts the run of a search's next round."""
CAMPAIGN_ID = "campaign_id"
"""Key of the XCom in which `plan` leaves the campaign's id."""
MEASURED_BY = "measured_by"
"""XCom of `plan`: the campaign that has measured the event by which the run began, where nothing is left to do."""
GOES_ON = "goes_on"
"""Key of the XCom in which `plan` leaves whether the strategy is asked again after the run's cells."""
INSTALLATION_VARIABLE = "plimsoll_installation"
"""Airflow's Variable with the id that distinguishes its runs from those of another Airflow on the same store."""
INSTALLATION_ENVIRONMENT = f"AIRFLOW_VAR_{INSTALLATION_VARIABLE.upper()}"
"""The environment variable in which Airflow looks for that Variable."""
LIVE_STATES = ["queued", "running"]
"""States of a DAG run that has not ended."""


@dataclass(frozen=True)
class CellRun:
    """One pass of a run of the DAG `cell`. Clearing the run, or tasks of it, begins another pass."""

    run_id: str
    clear_number: int
    installation: str

    @property
    def token(self) -> str:
        """Return the owner's token, which attempts and clusters of this pass carry."""
        return f"airflow:{self.run_id}#{self.clear_number}@{self.installation}"

    @classmethod
    def parse(cls, owner: str) -> Self | None:
        """Return the pass that a token names; None for owners that are no runs of Airflow, such as the command line."""
        match = CELL_RUN.fullmatch(owner)
        return cls(match["run_id"], int(match["clear_number"]), match["installation"]) if match else None

    @classmethod
    def of(cls, owner: str, installation: str) -> Self | None:
        """Return the pass that a token names; None also for one of another Airflow."""
        run = cls.parse(owner)
        return run if run and run.installation == installation else None


@dataclass(frozen=True)
class CampaignRunOwner:
    """A run of a campaign's DAG. It works on the whole campaign, through runs of the DAG `cell`."""

    dag_id: str
    run_id: str
    installation: str

    @property
    def token(self) -> str:
        return f"airflow-campaign:{self.dag_id}/{self.run_id}@{self.installation}"

    @classmethod
    def parse(cls, owner: str) -> Self | None:
        """Return the run that a token names; None for other owners."""
        match = CAMPAIGN_RUN.fullmatch(owner)
        return cls(match["dag_id"], match["run_id"], match["installation"]) if match else None


def is_of_run(owner: str, run_id: str, installation: str) -> bool:
    """Tell whether the owner is any pass of that Airflow's run."""
    run = CellRun.of(owner, installation)
    return run is not None and run.run_id == run_id


@dataclass(frozen=True)
class CellRunId:
    """The id of the only run of the DAG `cell` for a cell of a campaign."""

    campaign_id: str
    cell_id: str

    @property
    def run_id(self) -> str:
        """Return the text `<campaign>__<cell>`. Neither id contains an underscore."""
        return f"{self.campaign_id}__{self.cell_id}"

    @classmethod
    def parse(cls, run_id: str) -> Self:
        """Return the campaign and cell in a run's id. Raises ValueError for another kind of id."""
        campaign_id, cell_id = run_id.split("__")
        return cls(campaign_id, cell_id)
