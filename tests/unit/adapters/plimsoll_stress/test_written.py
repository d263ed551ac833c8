"""What the loads of a definition write into a database of somebody else."""

from typing import Any

import pytest
from tests.support.resolved import only_part

from plimsoll.adapters.generators.plimsoll_stress.remarks import written
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import load_spec, resolve
from plimsoll.domain.definition.definition import Definition


def of(workload: Any) -> str:
    definition = Definition.model_validate(
        {
            "name": "theirs",
            "title": "A database of somebody else",
            "system": {"database": "external", "nodes": 3},
            "variants": [{"id": "theirs"}],
            "loads": ["1k/s", "2k/s"],
            "workload": {"replication_factor": 3, **workload},
            "timing": {"duration": "10m", "warmup": "1m"},
            "stop_when": [{"errors": "50%", "within": "20s"}],
            "provider": {"name": "external"},
        }
    )
    return written(load_spec(only_part(definition)), [cell.load_ops_s for cell in grid(resolve(definition))])


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        (
            {"name": "KeyValue", "rows": 1000},
            "each of 2 cells makes the keyspace, writes into it and drops it: 1,000 rows before its load, and at most "
            "600,000 in it; 902,000 rows in all, 3 replicas of each (at least 20 bytes a row, 54.1 MB over all "
            "replicas)",
        ),
        (
            {"name": "StandardRow", "rows": 10, "write": 0},
            "10 rows before its load, and at most 0 in it; 20 rows in all",
        ),
        ({"name": "YcsbB", "recordcount": 10}, "at most 60,000 in it"),
        ({"name": "YcsbF", "recordcount": 10}, "at least 1.02 kB a row"),
        ({"name": "KeyValue", "rows": "1M"}, "1,000,000 rows before its load, and at most 600,000 in it"),
        ({"name": "YcsbA", "recordcount": "10k", "fieldlength": "1k"}, "10,000 rows before its load"),
        ({"name": "StandardRow", "rows": 10, "column_size": "1k"}, "at least 5.01 kB a row"),
        ({"name": "BatchedRows", "batch_rows": 10}, "0 rows before its load, and at most 12,000,000 in it"),
        ({"name": "BasicTimeSeries", "populate": 5, "read_share": 0.5}, "at most 600,000 in it"),
        ({"name": "Tabular"}, "rows of a size that is not known beforehand"),
        ({"name": "cql", "rows": 7, "operations": []}, "7 rows before its load, and in the load as many as its"),
        ({"name": "unheard-of"}, "how much, nobody knows beforehand"),
    ],
)
def test_what_is_written_is_said_as_far_as_it_is_known(workload: Any, words: str) -> None:
    assert words in of(workload)
