"""A real Airflow whose processes are killed while campaigns run, and are started again, as Compose would do."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psutil
from tests.fakes.gated import LOADING, Gates
from tests.fakes.installation import Installation
from tests.support.airflow.restarts import main_process
from tests.support.airflow.stack import StackUnderTest
from tests.support.processes import until

from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.local import database, processes
from plimsoll_airflow.local.client import DagRun
from plimsoll_airflow.local.demo import CampaignRun
from plimsoll_airflow.local.home import ApiError
from plimsoll_airflow.local.processes import is_alive

PARTS = ("triggerer", "api-server", "postgres", "scheduler")
Gate = tuple[str, str]
"""A place where a cell waits: the cell, as `<campaign>~<cell>`, and the phase."""
# Long enough for a machine with ten times as much work.
HELD_S, WHOLE_S, GONE_S, ENDED_S = 600.0, 300.0, 300.0, 900.0
AN_HOUR_AGO = "now() - interval '1 hour'"
_JOBS = {"scheduler": "SchedulerJob", "triggerer": "TriggererJob"}
"""Parts of Airflow that have a heartbeat, with its kind."""


@dataclass(frozen=True)
class Begun:
    """A triggered campaign, and the closed gates at which its cells wait."""

    definition: Definition
    run: DagRun
    gates: Sequence[Gate]


@dataclass
class Scene:
    """A running Airflow, and campaigns by their ids."""

    airflow: StackUnderTest
    installation: Installation
    restarted: Sequence[str]
    """Parts of Airflow that died and were started again, in the order of their restarts."""
    campaigns: dict[str, Begun] = field(default_factory=dict)

    @property
    def gates(self) -> Gates:
        """Return the gates at which cells wait."""
        return Gates(self.installation.folder / "work" / "gates")

    def begin(self, campaign_id: str, definition: Definition, gates: Sequence[Gate] = ()) -> None:
        """Start the campaign, whose cells run up to their gates."""
        for cell, phase in gates:
            self.gates.close(cell, phase)
        client, dag_id = self.airflow.client, definition.dag_id
        client.unpause(dag_id)
        run = client.trigger(dag_id, {"campaign_id": campaign_id}, run_id=campaign_id)
        self.campaigns[campaign_id] = Begun(definition, run, gates)

    def held(self, gates: Sequence[Gate]) -> Mapping[Gate, psutil.Process]:
        """Wait until a cell is at each of these gates. Returns the tasks' waiting processes."""
        wanted = set(gates)

        def missing() -> set[Gate]:
            return wanted - set(self.waiting())

        until(lambda: not missing(), lambda: f"cells at the gates {missing()}", patience_s=HELD_S)
        tasks = [gate for gate in wanted if gate[1] != LOADING]
        return {gate: psutil.Process(self.waiting()[gate]) for gate in tasks}

    def waiting(self) -> Mapping[Gate, int]:
        """Return the id of the process that came to each gate last."""
        return {(one.cell, one.phase): one.pid for one in self.gates.arrivals()}

    def open(self, gates: Sequence[Gate]) -> None:
        """Let the cells that wait at these gates go on."""
        for cell, phase in gates:
            self.gates.open(cell, phase)

    def end(self, campaign_id: str, *, timeout_s: float = ENDED_S) -> DagRun:
        """Open all gates of the campaign and wait for its end."""
        begun = self.campaigns[campaign_id]
        self.open(begun.gates)
        return self.airflow.wait_for(begun.run, timeout_s=timeout_s, poll_s=1)

    def kill_part(self, part: str) -> None:
        """Kill the main process of a part of Airflow, and wait until it runs again and has a new heartbeat.

        Its last heartbeat is dated back, so that Airflow notices the death at once.
        """
        since, job = datetime.now(UTC), self.tell("select max(id) from job")
        with suppress(psutil.NoSuchProcess):  # it may end by itself: a scheduler that lost its database does
            main_process(self.airflow, part).kill()
        if part in _JOBS:
            dead = f"id <= {job} and job_type = '{_JOBS[part]}'"
            self.tell(f"update job set latest_heartbeat = {AN_HOUR_AGO} where {dead}")
        until(lambda: part in self.restarted, f"the restart of {part}", patience_s=WHOLE_S)
        until(lambda: self.lives(part, since), f"a sign of life of {part}", patience_s=WHOLE_S)

    def kill_at_work(self, choice: random.Random) -> str:
        """Kill a worker, a task's supervisor or a task. Returns its command line; empty where no task runs."""
        members = processes.members(self.airflow.stack.home)
        at_work = [one.process for one in members if one.component == "scheduler" and not one.is_top]
        if not at_work:
            return ""
        struck = choice.choice(at_work)
        try:
            name = " ".join(struck.cmdline())
            struck.kill()
        except psutil.NoSuchProcess:  # it has ended meanwhile
            return ""
        psutil.wait_procs([struck], timeout=GONE_S)
        self.date_back_dead_tasks()
        return name

    def date_back_dead_tasks(self) -> None:
        """Date back the last heartbeat of tasks whose process is gone, so that Airflow notices their death at once."""
        running = self.tell("select pid from task_instance where state = 'running' and pid is not null").split()
        if dead := [pid for pid in running if not psutil.pid_exists(int(pid))]:
            of_dead = f"state = 'running' and pid in ({', '.join(dead)})"
            self.tell(f"update task_instance set last_heartbeat_at = {AN_HOUR_AGO} where {of_dead}")

    def tell(self, statement: str) -> str:
        """Run a statement on Airflow's database."""
        return database.execute(self.airflow.stack.home, statement)

    def lives(self, part: str, since: datetime) -> bool:
        """Tell whether the part has a heartbeat newer than `since`, according to Airflow.

        An answer of the api-server counts as a heartbeat of the api-server itself and of the database.
        """
        try:
            health = self.airflow.client.health()
        except ApiError:
            return False
        return health.status["metadatabase"] == "healthy" and part not in health.missing(since)

    def failures(self, campaign_id: str) -> str:
        """Return the errors of the campaign's failed tasks."""
        begun, store = self.campaigns[campaign_id], self.installation.toolkit.store
        return "\n".join(CampaignRun(self.airflow.client, store, begun.definition, begun.run).failures())

    def assert_each_cell_counts_once(self, campaign_id: str) -> None:
        """Check for one valid attempt per cell, no load that started twice, no living cluster, and a report."""
        store, cells = self.installation.toolkit.store, grid(resolve(self.campaigns[campaign_id].definition))
        campaign = CampaignStore(store, campaign_id)
        verdicts = Counter(verdict.key.cell_id for verdict in campaign.verdicts() if verdict.valid)
        assert verdicts == Counter(cell.id for cell in cells)
        attempts = {cell.id: campaign.attempts(cell.id) for cell in cells}
        assert all(layout.MANIFEST.read(store, key) for keys in attempts.values() for key in keys)
        starts = Counter(self.gates.starts())
        assert not [cell for cell in attempts if starts[f"{campaign_id}~{cell}"] > len(attempts[cell])]
        left = [cluster.id for cluster in self.installation.provider.clusters()]
        assert [one for one in left if one.campaign_id == campaign_id] == []
        assert store.exists(f"{campaign_id}/report/report.html")


def await_end(held: Mapping[Gate, psutil.Process]) -> None:
    """Wait until all of the held processes have ended."""
    until(lambda: not any(map(is_alive, held.values())), f"the end of {held}", patience_s=GONE_S)
