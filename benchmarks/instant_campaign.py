"""A campaign of instant clusters in the published shape, through a real Airflow on PostgreSQL, from trigger to report.

    .venv/bin/python -m benchmarks.instant_campaign [--repeats N] [--parallel N]

5 variants × 11 loads × 5 repeats are 275 cells. Clusters, database and load are simulated and take no time. Planning,
judging, the gate and the report are real, so the figures are those of Airflow and Plimsoll. CPU is the CPU time (user
and system) of all of Airflow's processes, with their tasks. Other work on the same machine makes the figures worse.
"""

import argparse
import tempfile
from pathlib import Path

from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.instant_campaign import Outcome, run_campaign
from tests.support.airflow.stack import running_stack
from tests.support.processes import CHECKOUT

from benchmarks.costs import print_costs

_TIMEOUT_S = 3 * 3600.0


def main() -> None:
    """Print wall time, CPU time by part, and the greatest number of living clusters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="of 55 cells each")
    parser.add_argument("--parallel", type=int, default=8, help="cells at a time")
    arguments = parser.parse_args()
    outcome = measure(arguments.repeats, arguments.parallel)
    _print(outcome, cells=55 * arguments.repeats, parallel=arguments.parallel)


def measure(repeats: int, parallel: int) -> Outcome:
    """Run the campaign in an Airflow of its own."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as folder:
        installation = Installation(Path(folder) / "plimsoll")
        definition = installation.define(
            instant_definition("instant", variants=5, loads=11, repeats=repeats, parallel=parallel)
        )
        environment = {**installation.environment, "PYTHONPATH": str(CHECKOUT)}
        with running_stack(Path(folder), env=environment, dag_ids=["instant", "cell"]) as airflow:
            return run_campaign(airflow, installation, definition, parallel=parallel, timeout_s=_TIMEOUT_S)


def _print(outcome: Outcome, *, cells: int, parallel: int) -> None:
    print(f"{cells} cells, {parallel} at a time: {outcome.run.state}")
    print_costs(cells, outcome.wall_s, outcome.cpu_s)
    print(f"clusters: {outcome.clusters}, at most {outcome.most_alive} at once")
    if outcome.run.state != "success" or outcome.clusters != cells or outcome.most_alive > parallel:
        raise SystemExit("\n".join(["not as it must be", *outcome.failures]))


if __name__ == "__main__":
    main()
