"""The published campaign on the test cloud through a real Airflow. Requests to EC2 and S3 are real, loads are instant.

    .venv/bin/python -m benchmarks.aws_campaign [--repeats N] [--parallel N]

5 variants × 11 loads × 5 repeats are 275 cells of 4 instances. CPU is that of all of Airflow's processes, tasks
included, user and system, without the cloud's own. Other work on the same machine makes the figures worse.
"""

import argparse
import tempfile
from pathlib import Path

from tests.support.airflow.aws_campaign import Outcome, published, run_on_aws, stack_with

from benchmarks.costs import print_costs
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition

_HOSTS = 4
_TIMEOUT_S = 3 * 3600.0


def main() -> None:
    """Print wall time, CPU time by part, the greatest number of living instances, and both accounts of the cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="of 55 cells each")
    parser.add_argument("--parallel", type=int, default=16, help="cells at a time")
    arguments = parser.parse_args()
    definition = published(arguments.parallel, repeats=arguments.repeats)
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as folder,
        stack_with(definition, Path(folder)) as stack,
    ):
        outcome = run_on_aws(stack, definition, _TIMEOUT_S)
    _print(outcome, definition)


def _print(outcome: Outcome, definition: Definition) -> None:
    cells, cloud = len(grid(resolve(definition))), outcome.cloud
    print(f"{cells} cells, {definition.max_parallel} at a time: {outcome.run.state}, {outcome.valid_cells} valid")
    print_costs(cells, outcome.wall_s, outcome.cpu_s)
    print(f"instances: {cloud['launched']} launched, {cloud['alive']} alive, at most {cloud['peak_instances']} at once")
    print(f"cost: {outcome.spent_usd:.4f} USD in the account, {outcome.billed_usd:.4f} USD by the cloud's own times")
    limit = definition.max_parallel * _HOSTS
    if outcome.failures or cloud["launched"] != cells * _HOSTS or cloud["peak_instances"] > limit:
        raise SystemExit("\n".join(["not as it must be", *outcome.failures]))
    if any(outcome.leftovers.values()):
        raise SystemExit(f"not all gone: {outcome.leftovers}")


if __name__ == "__main__":
    main()
