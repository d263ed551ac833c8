from dataclasses import replace
from typing import Any

import pytest

from plimsoll.adapters.products.hbase.inquiry import ToldState, bean_of

READY = ToldState(
    nodes=3,
    file_system={"FSState": "Operational", "NumLiveDataNodes": 3},
    master={"tag.isActiveMaster": "true", "numRegionServers": 3},
    assignment={"ritCount": 0},
    servers=[{"regionCount": 1}, {"regionCount": 1}, {"regionCount": 0}],
)


def test_a_cluster_whose_processes_all_tell_so_is_ready() -> None:
    assert READY.obstacle() is None


@pytest.mark.parametrize(
    ("told", "role", "why"),
    [
        ({"file_system": {}}, "namenode", "it does not answer at /jmx"),
        ({"file_system": {"NumLiveDataNodes": 2}}, "namenode", "2 of 3 DataNodes have reported to it"),
        ({"file_system": {"NumLiveDataNodes": 3, "FSState": "safeMode"}}, "namenode", "HDFS is in state safeMode"),
        ({"master": {}}, "master", "it does not answer at /jmx"),
        ({"master": {"tag.isActiveMaster": "false"}}, "master", "it is not the active master yet"),
        ({"master": {"tag.isActiveMaster": "true"}}, "master", "0 of 3 region servers have reported to it"),
        ({"assignment": {}}, "master", "regions in transition: unknown"),
        ({"assignment": {"ritCount": 2}}, "master", "regions in transition: 2"),
        ({"servers": [{}, {"regionCount": 1}, {}]}, "regionserver", "1 of its first 2 regions are open"),
    ],
)
def test_the_first_process_that_others_wait_for_is_told(told: Any, role: str, why: str) -> None:
    found = replace(READY, **told).obstacle()
    assert found is not None
    assert (found[0].name, found[1]) == (role, why)


@pytest.mark.parametrize("answer", [None, {}, {"beans": []}, {"beans": "x"}, [], "x", {"beans": [1]}])
def test_an_answer_without_the_bean_is_an_empty_one(answer: Any) -> None:
    assert bean_of(answer) == {}


def test_the_bean_of_an_answer_is_found() -> None:
    assert bean_of({"beans": [{"regionCount": 2}]}) == {"regionCount": 2}
