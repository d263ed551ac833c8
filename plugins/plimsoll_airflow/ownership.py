"""Who holds an attempt and its cluster: a run of the DAG `cell`, named by a token that both carry."""

import re
from dataclasses import dataclass
from typing import Self

CELL_DAG = "cell"
LIVE_STATES = ["queued", "running"]
"""States of a DAG run that has not ended."""

_TOKEN = re.compile(r"airflow:(?P<run_id>.+)#(?P<clear_number>\d+)")


@dataclass(frozen=True)
class CellRun:
    """One pass of a run of the DAG `cell`. Clearing the run, or tasks of it, makes it another pass."""

    run_id: str
    clear_number: int

    @property
    def token(self) -> str:
        """The owner that attempts and clusters of this pass carry."""
        return f"airflow:{self.run_id}#{self.clear_number}"

    @classmethod
    def parse(cls, owner: str) -> Self | None:
        """The pass that an owner names; None for owners that are no runs of Airflow's, such as the command line."""
        found = _TOKEN.fullmatch(owner)
        return cls(found["run_id"], int(found["clear_number"])) if found else None


def cell_run_id(campaign_id: str, cell_id: str) -> str:
    """The run of the DAG `cell` that measures that cell of that campaign: always the same one."""
    return f"{campaign_id}__{cell_id}"
