from datetime import UTC, datetime
from typing import Any

import pytest

from plimsoll.adapters.providers.ec2.tags import as_list, cluster_tags, of_store, store_tag, tags_of
from plimsoll.domain.hosts.cluster import ClusterId

AT = datetime(2026, 1, 31, tzinfo=UTC)


def test_what_is_written_is_read(key: ClusterId) -> None:
    found = tags_of({"Tags": as_list(cluster_tags(key, "cli-1", "s3://b/p", AT))})
    assert (found.cluster_id, found.owner, found.expires) == (key, "cli-1", AT)


@pytest.mark.parametrize(
    "tags",
    [
        {},
        {"Name": "somebody else's"},
        {"plimsoll:campaign": "azul-1", "plimsoll:cell": "g1-040k-r3"},
        {"plimsoll:campaign": "azul-1", "plimsoll:cell": "g1-040k-r3", "plimsoll:attempt": "two"},
        {"plimsoll:campaign": "NOT A CAMPAIGN", "plimsoll:cell": "g1-040k-r3", "plimsoll:attempt": "1"},
    ],
)
def test_tags_of_others_are_not_read(tags: Any) -> None:
    assert tags_of({"Tags": as_list(tags)}) is None


def test_odd_values_beside_a_sound_key_are_left_out(key: ClusterId) -> None:
    tags = cluster_tags(key, "cli-1", "s3://b/p", AT)
    odd = {"plimsoll:expires": "tomorrow", "plimsoll:nodes": "many", "plimsoll:usd-per-hour": "cheap"}
    found = tags_of({"Tags": as_list({**tags, **odd})})
    assert (found.expires, found.nodes, found.usd_per_hour) == (None, None, None)


def test_a_store_that_no_tag_can_hold_is_known_by_its_digest() -> None:
    long = "s3://b/" + "x" * 300
    assert len(store_tag(long)) == 64
    assert store_tag(long) != store_tag(long + "y")
    assert store_tag("s3://b/p") == "s3://b/p"


def test_wildcards_in_a_store_are_taken_literally() -> None:
    assert of_store("host:/a*b?")[0]["Values"] == ["host:/a\\*b\\?"]
