"""What an attempt may have left in a database of somebody else, and who removes it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT

from plimsoll.domain.cluster import Cluster, ClusterId
from plimsoll.ports.provider import Places
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.databases import is_used, may_have_left, note_left, note_used
from plimsoll.services.store.campaigns import CampaignStore

FIRST, SECOND = "v1-001k-r1", "v1-002k-r1"


class External:
    """A provider whose clusters have a keyspace in a database of somebody else."""

    name = "external"

    def __init__(self, hosts: Any) -> None:
        self._hosts = hosts
        self.destroyed: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hosts, name)

    def at(self, _: Places) -> "External":
        return self

    def clusters(self) -> Sequence[Cluster]:
        return [one.model_copy(update={"provider": self.name}) for one in self._hosts.clusters()]

    def destroy(self, cluster_id: ClusterId) -> None:
        self.destroyed.append(str(cluster_id))
        self._hosts.destroy(cluster_id)


class Owners:
    def __init__(self, alive: bool | None) -> None:
        self._alive = alive

    def is_alive(self, _: str) -> bool | None:
        return self._alive

    def me(self) -> str:
        return "another"


@pytest.mark.parametrize(("alive", "destroyed"), [(False, [f"campaign/{FIRST}/1"]), (True, []), (None, [])])
def test_the_campaigns_next_cell_removes_what_a_dead_process_left(
    installation: Installation, alive: bool | None, destroyed: list[str]
) -> None:
    """All its cells have one keyspace."""
    installation.open_campaign(instant_definition())
    external: Any = External(installation.toolkit.providers[INSTANT])
    owners: Any = Owners(alive)
    tools = replace(installation.toolkit, providers={INSTANT: external}, owners=owners)
    actions.provision(begin(tools, "campaign", FIRST, "me"))
    note_used(tools.store, ClusterId.parse(f"campaign/{FIRST}/1"))

    begin(tools, "campaign", SECOND, "another")

    assert external.destroyed == destroyed
    assert is_used(tools.store, "campaign") == (not destroyed)


def test_a_database_is_in_use_until_nothing_is_left_in_it(installation: Installation) -> None:
    store, one, other = installation.toolkit.store, *map(ClusterId.parse, ("campaign/a-1-r1/1", "campaign/a-1-r1/12"))
    for cluster_id in (one, other):
        note_used(store, cluster_id)
    note_left(store, one)
    assert is_used(store, "campaign")
    note_left(store, other)
    assert not is_used(store, "campaign")


def test_only_attempts_on_databases_of_somebody_else_may_have_left_something(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    begin(installation.toolkit, "campaign", FIRST, "me")
    campaign = CampaignStore(installation.toolkit.store, "campaign")
    assert not may_have_left(campaign, ClusterId.parse(f"campaign/{FIRST}/1"))
    assert not may_have_left(CampaignStore(campaign.store, "unheard-of"), ClusterId.parse(f"unheard-of/{FIRST}/1"))
