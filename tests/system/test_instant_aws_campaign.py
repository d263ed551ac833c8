"""The published campaign in the large on AWS: the API's part of it, many cells at once, and what they cost."""

from collections.abc import Iterator

import pytest
from tests.support.airflow.aws_campaign import Outcome, published, run_on_aws, stack_with

from plimsoll.domain.cell import grid

DEFINITION = published(parallel=3, repeats=1, loads=["20000/s"])
CELLS = len(grid(DEFINITION))
HOSTS = 4
ROUNDED_USD = 1e-6
"""To so much each attempt's cost is put on record."""

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    """Run once, for all tests."""
    with stack_with(DEFINITION, tmp_path_factory.mktemp("aws")) as stack:
        yield run_on_aws(stack, DEFINITION, timeout_s=1500)


def test_every_cell_is_provided_for_and_judged(outcome: Outcome) -> None:
    assert outcome.failures == (), "\n".join(outcome.failures)
    assert outcome.run.state == "success"
    assert outcome.valid_cells == CELLS == 5
    assert outcome.cloud["launched"] == CELLS * HOSTS


def test_no_more_live_at_once_than_the_pool_has_room_for_and_nothing_stays(outcome: Outcome) -> None:
    assert HOSTS < outcome.cloud["peak_instances"] <= DEFINITION.max_parallel * HOSTS
    assert outcome.cloud["alive"] == 0
    assert not any(outcome.leftovers.values()), outcome.leftovers


def test_the_account_agrees_with_the_clouds_own(outcome: Outcome) -> None:
    """From the launch until somebody has seen it gone: never less than the bill, and little more."""
    assert outcome.billed_usd > 0
    assert outcome.billed_usd <= outcome.spent_usd + CELLS * ROUNDED_USD
    assert outcome.spent_usd < 1.5 * outcome.billed_usd
