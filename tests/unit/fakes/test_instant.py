"""The fakes' own: what many processes do with them at once must not fail by the fakes' doing."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

from tests.fakes.installation import Installation

from plimsoll.domain.cluster import ClusterId, ClusterRequest


def test_clusters_can_be_listed_while_others_come_and_go(tmp_path: Path) -> None:
    provider = Installation(tmp_path).provider
    keys = [ClusterId(campaign_id="c", name=f"v1-00{n}k-r1/1") for n in range(1, 6)]
    expires_at = datetime.now(UTC) + timedelta(hours=1)

    def come_and_go(key: Any) -> None:
        for _ in range(100):
            provider.ensure(ClusterRequest(id=key, owner="test", nodes=1, expires_at=expires_at))
            provider.destroy(key)

    threads = [Thread(target=come_and_go, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert len(provider.clusters()) <= len(keys)
    assert list(provider.clusters()) == []


def test_a_cluster_stays_gone_although_somebody_still_looks_at_its_hosts(tmp_path: Path) -> None:
    provider = Installation(tmp_path).provider
    key = ClusterId(campaign_id="c", name="v1-001k-r1/1")
    expires_at = datetime.now(UTC) + timedelta(hours=1)
    cluster = provider.ensure(ClusterRequest(id=key, owner="test", nodes=1, expires_at=expires_at))
    looking = True

    def look() -> None:
        while looking:
            for info in cluster.hosts:
                provider.host(cluster, info, environment="e1")

    onlooker = Thread(target=look)
    onlooker.start()
    try:
        for _ in range(100):
            provider.destroy(key)
    finally:
        looking = False
        onlooker.join()
    assert provider.find(key) is None
    assert provider.journal() == [f"+ {key}", f"- {key}"]
