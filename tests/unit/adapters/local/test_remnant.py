"""What is known of a cluster of which only processes are left."""

from datetime import UTC, datetime
from pathlib import Path

from plimsoll.adapters.hosts.processes import ProcessTags
from plimsoll.adapters.providers.local.folders import remnant
from plimsoll.domain.hosts.cluster import ClusterId

KEY = ClusterId(campaign_id="demo-1", name="g1-040k-r1/1")


def test_every_load_host_is_told_from_nodes(tmp_path: Path) -> None:
    found = [ProcessTags(KEY, host=name, address="127.20.3.1") for name in ("node1", "load", "load2")]
    left = remnant(KEY, found, tmp_path / "gone", datetime(2026, 1, 31, tzinfo=UTC))
    assert [info.name for info in left.nodes] == ["node1"]
    assert [info.name for info in left.load_hosts] == ["load", "load2"]
