"""What of a campaign goes into its report's bundle, read like a store."""

from pathlib import Path

import pytest

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.text.errors import NotFound
from plimsoll.services.publish.results import take_snapshot
from plimsoll.services.store.campaigns import CampaignStore

KEPT = [
    "c/cells/a-001k-r1/1/failure.txt",
    "c/cells/a-001k-r1/1/manifest.json",
    "c/cells/a-001k-r1/2/verdict.json",
    "c/costs/a-001k-r1/1/begun",
    "c/definition.yaml",
    "c/quality/pass.json",
]
LEFT = [
    "c/bundles/jdk-1.tar",
    "c/cells/a-001k-r1/1/progress.json",
    "c/cells/a-001k-r1/1/quality/index.html",
    "c/cells/a-001k-r1/1/raw/load/manifest.json",
    "c/report/report.html",
    "other/definition.yaml",
]


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    store = ObjectStore(str(tmp_path))
    for key in (*KEPT, *LEFT):
        store.write(key, key.encode())
    return store


def test_it_holds_what_reports_are_made_of_and_nothing_else(store: ObjectStore) -> None:
    snapshot = take_snapshot(CampaignStore(store, "c"))
    assert {key: snapshot.read(key) for key in snapshot.keys("")} == {key: key.encode() for key in KEPT}


def test_it_reads_as_the_store_does(store: ObjectStore) -> None:
    snapshot = take_snapshot(CampaignStore(store, "c"))
    for prefix in ("c/cells", "c/cells/a-001k-r1", "c/cells/a", "c/costs/a-001k-r1/1", "c/none", "c/definition.yaml"):
        assert snapshot.folders(prefix) == store.folders(prefix)
        assert list(snapshot.keys(prefix)) == [key for key in store.keys(prefix) if key in KEPT]
    assert (snapshot.exists("c/definition.yaml"), snapshot.exists("c/cells")) == (True, False)
    with pytest.raises(NotFound):
        snapshot.read("c/cells")


def test_a_campaign_that_is_not_there_is_named(store: ObjectStore) -> None:
    with pytest.raises(NotFound, match="there is no campaign 'gone'"):
        take_snapshot(CampaignStore(store, "gone"))
