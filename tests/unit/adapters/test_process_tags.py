from datetime import UTC, datetime
from pathlib import Path

import pytest

from plimsoll.adapters.hosts.processes import ProcessTags, process_tags_of, read_process_tags
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo

WORK = Path("/work")
HOST = HostInfo(name="node2", role="node", address="127.20.3.2")
CLUSTER = Cluster(
    id=ClusterId(campaign_id="demo-1", name="g1-040k-r1/2"),
    owner="run-7",
    provider="local",
    hosts=(HOST,),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    expires_at=datetime(2026, 1, 2, tzinfo=UTC),
)


def test_marks_are_read_as_they_were_written() -> None:
    tags = read_process_tags(process_tags_of(CLUSTER, HOST, WORK), WORK)
    assert (tags.cluster_id, tags.owner, tags.host, tags.address) == (CLUSTER.id, "run-7", "node2", "127.20.3.2")
    assert (tags.since, tags.expires) == (CLUSTER.created_at, CLUSTER.expires_at)


def test_the_marks_that_others_look_for_are_there() -> None:
    tags = process_tags_of(CLUSTER, HOST, WORK)
    assert tags["PLIMSOLL_CLUSTER"] == "demo-1/g1-040k-r1/2"
    assert tags["PLIMSOLL_SUBNET"] == "127.20.3"
    assert tags["PLIMSOLL_WORK"] == "/work"


def test_another_work_folders_marks_are_none() -> None:
    assert read_process_tags(process_tags_of(CLUSTER, HOST, Path("/other")), WORK) is None


def test_marks_that_are_none_belong_to_no_cluster() -> None:
    assert read_process_tags({**process_tags_of(CLUSTER, HOST, WORK), "PLIMSOLL_CLUSTER": "nonsense"}, WORK) is None
    assert read_process_tags({"PLIMSOLL_WORK": str(WORK)}, WORK) is None


def test_a_process_is_known_by_its_cluster_alone() -> None:
    tags = read_process_tags({"PLIMSOLL_WORK": "/work", "PLIMSOLL_CLUSTER": "a/b/1", "PLIMSOLL_EXPIRES": "soon"}, WORK)
    assert tags == ProcessTags(ClusterId(campaign_id="a", name="b/1"))


@pytest.mark.parametrize("tags", [{"PLIMSOLL_EXPIRES": "2026-01-31T12:00:00"}, {"PLIMSOLL_HOST": "node 1\n"}])
def test_what_no_plimsoll_writes_is_not_known(tags: dict[str, str]) -> None:
    """A time without a zone could not be compared with any other."""
    found = read_process_tags({"PLIMSOLL_WORK": "/work", "PLIMSOLL_CLUSTER": "a/b/1", **tags}, Path("/work"))
    assert found == ProcessTags(ClusterId(campaign_id="a", name="b/1"))
