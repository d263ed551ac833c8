"""Whole cells whose rows are counted for a size on disk, of workloads that say in their own ways how many there are.

They run in `make test-all`. `system/test_campaign.py` has a cell of a size that was asked for.
"""

from pathlib import Path
from typing import Any

import pytest
from tests.support.campaigns.running import run_missing
from tests.support.nodes.even import toolkit
from tests.support.nodes.small import define
from tests.support.suite.requirements import long

from plimsoll.domain.attempt.populated_data import FIRST_SAMPLE, is_within_tolerance
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.units import parse_size
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings

SIZE = "12M"
OWN_ROWS: dict[str, Any] = {
    "id": "own",
    "name": "cql",
    "schema": ["CREATE TABLE IF NOT EXISTS people (id bigint PRIMARY KEY, note blob)"],
    "population": {
        "statement": "INSERT INTO people (id, note) VALUES (:id, :note)",
        "bind": {
            "id": {"distribution": "sequence", "max": "rows"},
            "note": {"distribution": "fixed", "value": 200, "as": "bytes"},
        },
        "read_back": "SELECT id FROM people WHERE id = :id",
    },
    "operations": [
        {
            "name": "look-ups",
            "share": 1,
            "statement": "SELECT * FROM people WHERE id = :id",
            "bind": {"id": {"distribution": "uniform", "max": "rows"}},
        }
    ],
}
TIME_SERIES = {"id": "series", "name": "BasicTimeSeries", "partitions": "1M"}
WORKLOADS = (OWN_ROWS, TIME_SERIES)

pytestmark = [
    pytest.mark.timeout(900),
    long("a campaign has a cell of such a size"),
]


def definition() -> Definition:
    """One cell of each workload, on a node each."""
    content = define(nodes=1).model_dump(mode="json", exclude={"workload"})
    sized = [{**one, "data_per_node": SIZE, "replication_factor": 1} for one in WORKLOADS]
    return Definition.model_validate({**content, "name": "sized", "workloads": sized})


def test_rows_of_ones_own_and_time_series_take_the_size_that_was_asked_for(tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", cache=Settings().cache)
    tools, own = toolkit(settings), definition()
    assert problems(tools, own) == ()
    campaign = CampaignStore(tools.store, own.name)
    campaign.open(own)

    ran = run_missing(tools, own.name, "me", print)

    assert len(ran) == len(WORKLOADS)
    for one in ran:
        assert (one.troubles, one.remains) == ((), False)
        start = layout.LOAD_START.read(tools.store, one.work.key)
        fingerprint = layout.FINGERPRINT.read(tools.store, one.work.key)
        assert start is not None
        assert fingerprint is not None
        assert fingerprint.counted_rows is not None
        assert fingerprint.counted_rows > FIRST_SAMPLE
        [size] = start.data_bytes.values()
        assert is_within_tolerance(parse_size(SIZE), size), (one.work.key, size, fingerprint.counted_rows)
