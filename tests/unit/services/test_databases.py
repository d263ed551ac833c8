"""What an attempt may have left in a database of somebody else, and who removes it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT
from tests.unit.services.external_definition import external

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, SetUp
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.provider import Places
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.at_rest import StoredSetUps, is_used, may_have_left, note_left, note_used
from plimsoll.services.hosts.reaping import destroy_unseen, on_this_machine, reap
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

FIRST, SECOND = "v1-001k-r1", "v1-002k-r1"
THEIRS = "theirs-00100-r1"
LEFT = ClusterId.parse(f"campaign/{THEIRS}/1")


class External:
    """A provider whose clusters have a keyspace in a database of somebody else."""

    name = "external"

    def __init__(self, hosts: Any) -> None:
        self._hosts = hosts
        self.destroyed: list[str] = []
        self.why: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hosts, name)

    def at(self, _: Places) -> "External":
        return self

    def clusters(self) -> Sequence[Cluster]:
        return [one.model_copy(update={"provider": self.name}) for one in self._hosts.clusters()]

    def destroy(self, cluster_id: ClusterId) -> None:
        if self.why:
            raise self.why
        self.destroyed.append(str(cluster_id))
        self._hosts.destroy(cluster_id)


@pytest.fixture
def crashed(installation: Installation, clock: SteppingClock) -> tuple[Toolkit, Any]:
    """Provide an attempt whose process died after its cluster was gone, and before it could note that."""
    installation.open_campaign(external())
    provider: Any = External(installation.toolkit.providers[INSTANT])
    providers: Any = {"external": provider}
    prices: Any = {"external": Free()}
    tools = replace(installation.toolkit, clock=clock, providers=providers, tariffs=prices)
    begin(tools, "campaign", THEIRS, "me")
    note_used(tools.store, LEFT)
    return tools, provider


class Free:
    """Prices of load hosts that cost nothing."""

    def tariff(self, _: Definition) -> None:
        return None


def test_the_reaper_removes_the_note_of_an_attempt_that_left_nothing(crashed: tuple[Toolkit, Any]) -> None:
    """Until then everybody who looks for clusters logs in to the database."""
    tools, provider = crashed
    assert reap(tools, lambda _: False).troubles == ()
    assert provider.destroyed == [str(LEFT)]
    assert not is_used(tools.store, "campaign")
    reap(tools, lambda _: False)
    assert provider.destroyed == [str(LEFT)]


@pytest.mark.parametrize("asked", ["of a living owner", "as a dry run", "of this machine alone"])
def test_the_note_stays_where_nobody_may_remove_it(crashed: tuple[Toolkit, Any], asked: str) -> None:
    tools, provider = crashed
    tools = on_this_machine(tools) if asked == "of this machine alone" else tools
    reap(tools, lambda _: asked == "of a living owner", dry_run=asked == "as a dry run")
    assert provider.destroyed == []
    assert is_used(tools.store, "campaign")


def test_a_database_that_does_not_answer_is_asked_for_a_week_and_then_given_up_with_words(
    crashed: tuple[Toolkit, Any], clock: SteppingClock
) -> None:
    tools, provider = crashed
    provider.why = ProviderError("no answer", where="10.0.0.11", mend="start it")
    clock.at += timedelta(days=7)
    assert reap(tools, lambda _: False).troubles == ()
    assert is_used(tools.store, "campaign")
    clock.at += timedelta(days=1)
    [told] = reap(tools, lambda _: False).troubles
    assert told.startswith(f"{LEFT}: whether what it made there is gone could not be seen for 7 days")
    assert f"`plimsoll clusters destroy {LEFT}` removes it" in told
    assert not is_used(tools.store, "campaign")
    assert reap(tools, lambda _: False).troubles == ()
    provider.why = None
    assert destroy_unseen(tools, str(LEFT))


def test_a_file_of_others_among_the_notes_is_told_and_hides_no_other_campaign(crashed: tuple[Toolkit, Any]) -> None:
    tools, provider = crashed
    tools.store.write("campaign/databases/README", b"")
    CampaignStore(tools.store, "another").open(external())
    begin(tools, "another", THEIRS, "me")
    note_used(tools.store, ClusterId.parse(f"another/{THEIRS}/1"))
    [told] = reap(tools, lambda _: False).troubles
    assert told.startswith("campaign campaign: whether anything is left in its database can't be told: ValueError")
    assert provider.destroyed == [f"another/{THEIRS}/1"]


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


def test_what_is_left_in_an_endpoint_is_named_at_each_pass(crashed: tuple[Toolkit, Any]) -> None:
    """Nobody else has said that it can't be asked."""
    tools, provider = crashed
    provider.why = ProviderError("could not clean up", where="10.0.0.11")
    StoredSetUps(tools.store).settle(LEFT, SetUp(own="plimsoll_0123456789ab", addresses=("db:5432",)))
    for _ in range(2):
        [told] = reap(tools, lambda _: False).troubles
        assert told == f"{LEFT}: what it made in its database is still to be removed: 10.0.0.11: could not clean up"
    assert is_used(tools.store, "campaign")
