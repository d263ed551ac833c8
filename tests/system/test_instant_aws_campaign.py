"""The published campaign in the large on AWS: the API's part of it, many cells at once, and what they cost."""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime

import pytest
from tests.support.airflow.aws_campaign import Outcome, bill, published, run_on_aws, stack_with
from tests.support.airflow.cloud_stack import CloudStack
from tests.support.suite.requirements import long

from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve

DEFINITION = published(parallel=2, variants=3, repeats=1, loads=["20000/s"])
CELLS = len(grid(resolve(DEFINITION)))
HOSTS = 4
ROUNDED_USD = 1e-6
"""To so much each attempt's cost is put on record."""

pytestmark = [
    pytest.mark.timeout(1800),
    long("a cell on the same cloud runs without Airflow"),
]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CloudStack]:
    with stack_with(DEFINITION, tmp_path_factory.mktemp("aws")) as stack:
        yield stack


@pytest.fixture(scope="module")
def outcome(stack: CloudStack) -> Outcome:
    """Run once, for all tests."""
    return run_on_aws(stack, DEFINITION, timeout_s=1500)


def test_every_cell_is_provided_for_and_judged(outcome: Outcome) -> None:
    assert outcome.failures == (), "\n".join(outcome.failures)
    assert outcome.run.state == "success"
    assert outcome.valid_cells == CELLS == 3
    assert outcome.cloud["launched"] == CELLS * HOSTS


def test_no_more_live_at_once_than_the_pool_has_room_for_and_nothing_stays(outcome: Outcome) -> None:
    assert HOSTS < outcome.cloud["peak_instances"] <= DEFINITION.max_parallel * HOSTS
    assert outcome.cloud["alive"] == 0
    assert not any(outcome.leftovers.values()), outcome.leftovers


def test_the_account_agrees_with_the_clouds_own(outcome: Outcome, stack: CloudStack) -> None:
    """Never less than the bill, and never more than from the launch until Airflow was done with the cell."""
    over = cells_over(stack)
    most_usd = sum(bill(one, one["launched"], over[one["tags"]["plimsoll:cell"]]) for one in stack.cloud.instances())
    assert outcome.billed_usd > 0
    assert outcome.billed_usd <= outcome.spent_usd + CELLS * ROUNDED_USD
    assert outcome.spent_usd <= most_usd + CELLS * ROUNDED_USD


def cells_over(stack: CloudStack) -> Mapping[str, float]:
    """Tell when the last task of each cell's run ended: Airflow's own record, in seconds of the cloud's clock."""
    client, clock_began = stack.airflow.client, time.time() - time.monotonic()
    ended: dict[str, list[datetime]] = {}
    for run in client.dag_runs("cell"):  # a cell may have run twice
        tasks = client.task_instances("cell", run.run_id)
        ended.setdefault(run.conf["cell_id"], []).extend(task.ended_at for task in tasks if task.ended_at)
    return {cell_id: max(times).timestamp() - clock_began for cell_id, times in ended.items()}
