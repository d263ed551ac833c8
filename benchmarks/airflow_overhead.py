"""What Airflow adds to a cell, compared with a plainly written DAG of the same shape in the same Airflow.

    .venv/bin/python -m benchmarks.airflow_overhead [--cells N] [--parallel N] [--rounds N] [--plain-load-s S]

Both run N cells in alternating rounds. Plimsoll's DAGs have an instant provider and database and a load that sleeps
for 5 s, with real collecting, judging, gate and report. The tasks of the plain DAG do nothing. One of them waits for
5 s in the triggerer, since Airflow works in this time too. With `--plain-load-s 0` it does not wait. Wall time is the
time of a cell's DAG run, from its request to the end of its last task, minus the time of the load. CPU is the CPU
time of all of Airflow's processes, with their tasks. A cell of each runs before, so that neither pays for what
Airflow's processes do once. The core's own work, with gate and report, is also measured without Airflow. The plain
tasks have no such work, so the ratio without it is the one that describes Airflow's overhead.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.instant_campaign import cpu_seconds
from tests.support.airflow.stack import StackUnderTest, running_stack
from tests.support.campaigns.running import run_missing
from tests.support.processes import CHECKOUT

from plimsoll.domain.campaign.grid import cells_by_id
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.publish.publishing import pass_gate, publish_report
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.lifecycle import warm_up_for_tasks
from plimsoll_airflow.local.client import DagRun

_TIMEOUT_S = 3600.0
_LOAD_S = 5.0
_OURS, _PLAIN = "instant", "plain_campaign"
_CELLS = {_OURS: "cell", _PLAIN: "plain_cell"}


@dataclass(frozen=True)
class Took:
    """One campaign: CPU seconds per cell by part of Airflow, and wall seconds of each cell's run beyond its load."""

    parts_s: Mapping[str, float]
    walls_s: Sequence[float]

    @property
    def cpu_s(self) -> float:
        """Return CPU seconds per cell, all parts together."""
        return sum(self.parts_s.values())


def main() -> None:
    """Print wall and CPU seconds per cell of both, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=12)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plain-load-s", type=float, default=_LOAD_S)
    arguments = parser.parse_args()
    definition = instant_definition(
        _OURS, variants=1, loads=arguments.cells, parallel=arguments.parallel, load_s=_LOAD_S
    )
    _keep_what_python_compiles()
    rounds, load_s = [], {_OURS: _LOAD_S, _PLAIN: arguments.plain_load_s}
    with _airflow(definition, arguments.parallel) as airflow:
        _warm_up(airflow, definition, arguments.plain_load_s)
        for _ in range(arguments.rounds):
            rounds.append([_measure(airflow, dag_id, arguments.cells, load_s[dag_id]) for dag_id in (_PLAIN, _OURS)])
    for name, place in (("plain", 0), ("ours", 1)):
        _print(name, [one[place] for one in rounds])
    core_s = core_cpu_s(definition)
    print(f"the core alone: {core_s:.2f} s CPU a cell")
    print(f"ratio of CPU: {median(ours.cpu_s / plain.cpu_s for plain, ours in rounds):.2f}")
    without = median((ours.cpu_s - core_s) / plain.cpu_s for plain, ours in rounds)
    print(f"ratio of CPU without the core's own work: {without:.2f}")
    print(f"ratio of wall: {median(median(o.walls_s) / median(p.walls_s) for p, o in rounds):.2f}")


def _keep_what_python_compiles() -> None:
    """Keep what Python compiles, as `make up` does: else each report's process makes Vega's runtime again, for 1.4
    s.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def _warm_up(airflow: StackUnderTest, definition: Definition, plain_load_s: float) -> None:
    first = next(iter(cells_by_id(resolve(definition))))
    for dag_id, conf in ((_PLAIN, {"cells": 1, "load_s": str(plain_load_s)}), (_OURS, {"cells": first})):
        _require_success(airflow.run_to_end(dag_id, conf, timeout_s=_TIMEOUT_S, poll_s=2))


def _require_success(run: DagRun) -> None:
    if run.state != "success":
        raise SystemExit(f"{run.dag_id} ended as {run.state}")


def _print(name: str, campaigns: Sequence[Took]) -> None:
    wall_s = median(wall for one in campaigns for wall in one.walls_s)
    parts = {part: median(one.parts_s[part] for one in campaigns) for part in sorted(campaigns[0].parts_s)}
    by_part = ", ".join(f"{part} {seconds:.2f}" for part, seconds in parts.items())
    print(f"{name}: {wall_s:.1f} s wall, {median(one.cpu_s for one in campaigns):.2f} s CPU a cell ({by_part})")


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


def _measure(airflow: StackUnderTest, dag_id: str, cells: int, load_s: float) -> Took:
    known = {run.run_id for run in airflow.client.dag_runs(_CELLS[dag_id])}
    before = cpu_seconds(airflow.stack.home)
    conf = {"cells": cells, "load_s": str(load_s)} if dag_id == _PLAIN else {}
    ended = airflow.run_to_end(dag_id, conf, timeout_s=_TIMEOUT_S, poll_s=2)
    _require_success(ended)
    parts = {part: (after - before[part]) / cells for part, after in cpu_seconds(airflow.stack.home).items()}
    runs = [run for run in airflow.client.dag_runs(_CELLS[dag_id]) if run.run_id not in known]
    return Took(parts, [_wall_s(airflow, run.dag_id, run.run_id) - load_s for run in runs])


def _wall_s(airflow: StackUnderTest, dag_id: str, run_id: str) -> float:
    asked_for = airflow.client.dag_run(dag_id, run_id).run_after
    ends = [task.ended_at for task in airflow.client.task_instances(dag_id, run_id) if task.ended_at]
    return (max(ends) - asked_for).total_seconds()


def core_cpu_s(definition: Definition) -> float:
    """Measure CPU seconds per cell of the same campaign without Airflow, with gate and report, whose imports count."""
    warm_up_for_tasks()
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as folder:
        installation = Installation(Path(folder))
        campaign: CampaignStore = installation.open_campaign(definition)
        first = time.process_time()
        verdicts = run_missing(installation.toolkit, campaign.campaign_id, "benchmark", lambda _line: None)
        pass_gate(installation.toolkit, campaign.campaign_id, ())
        publish_report(installation.toolkit, campaign.campaign_id)
        return (time.process_time() - first) / len(verdicts)


if __name__ == "__main__":
    main()
