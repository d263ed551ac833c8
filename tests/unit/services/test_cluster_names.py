"""What is said to a name of a cluster that nothing living has."""

from pathlib import Path

import pytest
from tests.fakes.installation import Installation
from tests.unit.services.kept_definition import kept

from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import NotFound
from plimsoll.ports.store import ResultStore
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.kept_hosts import end_kept
from plimsoll.services.hosts.places import require_known


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    """Provide one of a campaign with one attempt, whose kept hosts are gone."""
    installation = Installation(tmp_path)
    installation.open_campaign(kept("campaign"), "demo-1")
    work = begin(installation.toolkit, "demo-1", "v1-001k-r1", "me")
    actions.provision(work)
    actions.destroy(work)
    end_kept(installation.toolkit, "demo-1")
    return installation.toolkit.store


@pytest.mark.parametrize("name", ["demo-1", "demo-1/v1-001k-r1/1", "demo-1/hosts/1"])
def test_what_is_on_record_is_known_though_nothing_of_it_lives(store: ResultStore, name: str) -> None:
    require_known(store, name, [])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("demo1", "did you mean 'demo-1'? "),
        ("demo-1/v1-001k-r1/2", "did you mean 'demo-1/v1-001k-r1/1'? "),
        ("demo-1/v1-01k-r1/1", "did you mean 'demo-1/v1-001k-r1/1'? "),
        ("demo-1/host/1", "did you mean 'demo-1/hosts/1'? "),
        ("demo-1/../1", "did you mean 'demo-1'? "),
        ("elsewhere/v1-001k-r1", ""),
        ("../..", ""),
    ],
)
def test_another_name_is_not_found_and_the_nearest_is_named(store: ResultStore, name: str, meant: str) -> None:
    with pytest.raises(NotFound, match="no campaign and no cluster has the name") as error:
        require_known(store, name, [])
    assert error.value.mend == f"{meant}`plimsoll clusters list` shows what lives"


def test_a_campaign_with_living_clusters_is_no_name_of_one(store: ResultStore) -> None:
    with pytest.raises(NotFound, match="'demo-1' is a campaign") as error:
        require_known(store, "demo-1", [ClusterId.parse("demo-1/hosts/2"), ClusterId.parse("other/hosts/1")])
    assert error.value.mend == "name one of its living clusters: demo-1/hosts/2"
