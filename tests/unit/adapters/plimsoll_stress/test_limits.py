"""What plan, verdict and report say of a load that does not show what its name promises."""

from typing import Any

import pytest
from tests.support.resolved import only_part
from tests.unit.adapters.one_variant import one_variant

from plimsoll.adapters.generators.plimsoll_stress.remarks import limits
from plimsoll.domain.campaign.resolve import load_spec

HBASE = [{"id": "hbase", "product": "hbase", "version": "2.6.4"}]


def test_an_open_loop_has_nothing_to_tell() -> None:
    assert list(limits(load_spec(only_part(one_variant())))) == []


def test_a_closed_loop_is_told_loudly_with_how_many_operations_it_waits_for() -> None:
    generator = {"hosts": 2, "threads": 4, "concurrency": 5}
    [told] = limits(load_spec(only_part(one_variant(loop="closed", load_generator=generator))))
    assert told.startswith(
        "CLOSED LOOP, which HIDES WAITS: an operation is sent only when fewer than 40 operations are"
    )


@pytest.mark.parametrize(("keys", "expected"), [({"variants": HBASE}, 1), ({}, 0)])
def test_hbase_has_no_logged_batches(keys: Any, expected: int) -> None:
    told = list(limits(load_spec(only_part(one_variant(workload={"name": "BatchedRows"}, **keys)))))
    assert len(told) == expected
    assert all(one.startswith("HBase has no logged batches") for one in told)
