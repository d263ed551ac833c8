"""An instant campaign through a real Airflow, from trigger to report, for system tests and benchmarks."""

import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil
from tests.fakes.installation import Installation

from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll_airflow.local import processes
from plimsoll_airflow.local.client import DagRun
from plimsoll_airflow.local.demo import CampaignRun, poll_s

if TYPE_CHECKING:
    from tests.support.airflow.stack import StackUnderTest

    from plimsoll_airflow.local.home import Home


@dataclass(frozen=True)
class Outcome:
    """A campaign's run, its duration and CPU time, and the clusters that its definition ever had.

    `cpu_s` is by part of Airflow, in seconds; tasks count as part of the scheduler. `failures` has the failed tasks,
    each with its last error.
    """

    run: DagRun
    wall_s: float
    cpu_s: Mapping[str, float]
    clusters: int
    most_alive: int
    failures: tuple[str, ...]


def run_campaign(
    airflow: "StackUnderTest", installation: Installation, definition: Definition, *, parallel: int, timeout_s: float
) -> Outcome:
    """Run the definition's DAG once with that many slots for clusters, and wait for its end."""
    airflow.client.set_pool("clusters", parallel, "How many clusters may live at once")
    before, began = cpu_seconds(airflow.stack.home), time.monotonic()
    ended = airflow.run_to_end(
        definition.dag_id, {}, timeout_s=timeout_s, poll_s=poll_s(len(grid(resolve(definition))))
    )
    after = cpu_seconds(airflow.stack.home)
    return Outcome(
        run=ended,
        wall_s=time.monotonic() - began,
        cpu_s={part: after[part] - before[part] for part in after},
        clusters=installation.provider.provided(definition.name),
        most_alive=installation.provider.most_alive(definition.name),
        failures=tuple(CampaignRun(airflow.client, installation.toolkit.store, definition, ended).failures()),
    )


def cpu_seconds(home: "Home") -> Mapping[str, float]:
    """Return the CPU time, s, of a stack's processes and of their ended children, by part of Airflow."""
    total: defaultdict[str, float] = defaultdict(float)
    for member in processes.members(home):
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile, and its time counts for its parent
            times = member.process.cpu_times()
            total[member.component] += times.user + times.system + times.children_user + times.children_system
    return total
