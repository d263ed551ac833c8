"""What Airflow adds to a cell, beside a plainly written DAG of the same shape in the same Airflow.

    .venv/bin/python -m benchmarks.airflow_overhead [--cells N] [--parallel N] [--rounds N]

Both run N cells with nothing to do, in alternating rounds: ours with an instant provider, database and load, but with
real collecting, judging, gate and report; the plain one with six tasks that do nothing at all. Wall time is that of a
cell's DAG run, from when it was asked for to the end of its last task. CPU is that of all of Airflow's processes, tasks
included. What the core takes by itself, without Airflow, is measured too.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.airflow_stack import CHECKOUT, StackUnderTest, running_stack
from tests.fakes.airflow_campaign import cpu_seconds
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.definition import Definition
from plimsoll.quality import engine
from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.running import run_missing

_TIMEOUT_S = 3600.0
_OURS, _PLAIN = "instant", "plain_campaign"
_CELLS = {_OURS: "cell", _PLAIN: "plain_cell"}


@dataclass(frozen=True)
class Took:
    """One campaign: CPU seconds a cell, and the wall seconds of each cell's run."""

    cpu_s: float
    walls_s: Sequence[float]


def main() -> None:
    """Print wall and CPU a cell of both, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=12)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    definition = instant_definition(_OURS, variants=1, loads=arguments.cells, parallel=arguments.parallel)
    rounds = []
    with _airflow(definition, arguments.parallel) as airflow:
        for _ in range(arguments.rounds):
            rounds.append([_measure(airflow, dag_id, arguments.cells) for dag_id in (_PLAIN, _OURS)])
    for name, place in (("plain", 0), ("ours", 1)):
        cpu, wall = median(one[place].cpu_s for one in rounds), median(w for one in rounds for w in one[place].walls_s)
        print(f"{name}: {wall:.1f} s wall, {cpu:.2f} s CPU a cell")
    print(f"the core alone: {core_cpu_s(definition):.2f} s CPU a cell")
    print(f"ratio of CPU: {median(ours.cpu_s / plain.cpu_s for plain, ours in rounds):.2f}")
    print(f"ratio of wall: {median(median(o.walls_s) / median(p.walls_s) for p, o in rounds):.2f}")


@contextmanager
def _airflow(definition: Definition, parallel: int) -> Iterator[StackUnderTest]:
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as temporary:
        folder = Path(temporary)
        installation = Installation(folder / "plimsoll")
        installation.define(definition)
        (folder / "dags").mkdir()
        for file in (*(CHECKOUT / "dags").glob("*.py"), *(CHECKOUT / "benchmarks" / "dags").glob("*.py")):
            (folder / "dags" / file.name).symlink_to(file)
        environment = {**installation.environment, "PYTHONPATH": str(CHECKOUT)}
        with running_stack(
            folder, dags=folder / "dags", env=environment, dag_ids=[*_CELLS, *_CELLS.values()]
        ) as airflow:
            airflow.client.set_pool("clusters", parallel, "How many clusters may live at once")
            for dag_id in _CELLS.values():
                airflow.client.unpause(dag_id)
            yield airflow


def _measure(airflow: StackUnderTest, dag_id: str, cells: int) -> Took:
    known = {run.run_id for run in airflow.client.dag_runs(_CELLS[dag_id], limit=100)}
    before = sum(cpu_seconds(airflow.stack.home).values())
    ended = airflow.run_to_end(dag_id, {"cells": cells} if dag_id == _PLAIN else {}, timeout_s=_TIMEOUT_S)
    if ended.state != "success":
        raise SystemExit(f"{dag_id} ended as {ended.state}")
    cpu_s = (sum(cpu_seconds(airflow.stack.home).values()) - before) / cells
    runs = [run for run in airflow.client.dag_runs(_CELLS[dag_id], limit=100) if run.run_id not in known]
    return Took(cpu_s, [_wall_s(airflow, run.dag_id, run.run_id) for run in runs])


def _wall_s(airflow: StackUnderTest, dag_id: str, run_id: str) -> float:
    asked_for = airflow.client.dag_run(dag_id, run_id).run_after
    ends = [task.ended_at for task in airflow.client.task_instances(dag_id, run_id) if task.ended_at]
    return (max(ends) - asked_for).total_seconds()


def core_cpu_s(definition: Definition) -> float:
    """CPU seconds a cell of the same campaign without Airflow, everything imported before."""
    engine.load()
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as folder:
        installation = Installation(Path(folder))
        campaign: CampaignStore = installation.open_campaign(definition)
        first = time.process_time()
        verdicts = run_missing(installation.toolkit, campaign.campaign_id, "benchmark", lambda _line: None)
        return (time.process_time() - first) / len(verdicts)


if __name__ == "__main__":
    main()
