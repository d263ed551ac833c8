"""Who waits for whom where several campaigns load one database of somebody else."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.owners import FixedOwners
from tests.unit.services.external_definition import external

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.provider import Places
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.preflight import await_turn
from plimsoll.services.hosts.at_rest import note_left, note_used
from plimsoll.services.retries import waiting_reported_to
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

CELL = "theirs-00100-r1"


class Databases:
    """A provider of databases that are there, by their contact points."""

    name = "external"

    def __init__(self, addresses: frozenset[str] = frozenset()) -> None:
        self._addresses = addresses

    def at(self, places: Places) -> "Databases":
        named: Any = [options["contact_points"] for options in places.options]
        return Databases(frozenset(address for addresses in named for address in addresses))

    def shared_addresses(self) -> frozenset[str]:
        return self._addresses

    def clusters(self) -> tuple[()]:
        return ()


@pytest.fixture
def tools(installation: Installation, clock: SteppingClock) -> Toolkit:
    """Provide a store in which the campaign `first` has an attempt under way on the database `db`."""
    providers: Any = {"external": Databases()}
    owners: Any = FixedOwners(alive={"one", "another"})
    tools = replace(installation.toolkit, clock=clock, providers=providers, owners=owners)
    begun(tools, "first", "one")
    note_used(tools.store, ClusterId.parse(f"first/{CELL}/1"))
    return tools


def begun(tools: Toolkit, campaign_id: str, owner: str, **options: object) -> AttemptContext:
    """Begin a campaign's attempt on the database `db`, or on the one of these options."""
    written = external()
    provider = written.provider.model_copy(update={"options": {**written.provider.options, **options}})
    definition: Definition = written.model_copy(update={"provider": provider})
    CampaignStore(tools.store, campaign_id).open(definition)
    return begin(tools, campaign_id, CELL, owner)


def test_a_cell_waits_until_another_campaigns_cell_has_left_the_database(tools: Toolkit, clock: SteppingClock) -> None:
    said: list[str] = []
    leaving: Any = LeavesAfter(clock, tools, naps=3)
    work = begun(replace(tools, clock=leaving), "second", "another")
    with waiting_reported_to(said.append):
        await_turn(work)
    assert clock.slept == [2.0, 10.0, 10.0]
    assert said == [f"waiting until 12:30:00 UTC at most: db is loaded by first/{CELL}/1"]


class LeavesAfter:
    """A clock by which a campaign's cluster is gone after so many naps."""

    def __init__(self, clock: SteppingClock, tools: Toolkit, naps: int, campaign_id: str = "first") -> None:
        self._clock, self._tools, self._naps, self._campaign_id = clock, tools, naps, campaign_id

    def __getattr__(self, name: str) -> Any:
        return getattr(self._clock, name)

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)
        if self._clock.naps == self._naps:
            note_left(self._tools.store, ClusterId.parse(f"{self._campaign_id}/{CELL}/1"))


def test_who_was_first_waits_for_nobody(tools: Toolkit, clock: SteppingClock) -> None:
    """Also when it is tried again: the first record of its use counts."""
    second = begun(tools, "second", "another")
    note_used(tools.store, second.cluster_id)
    await_turn(AttemptContext(tools, AttemptKey(campaign_id="first", cell_id=CELL, attempt=1)))
    assert clock.slept == [2.0]


def test_after_half_an_hour_the_cell_fails_with_the_name_of_who_loads_it(tools: Toolkit, clock: SteppingClock) -> None:
    with pytest.raises(ProviderError, match=rf"db is loaded by first/{CELL}/1") as raised:
        await_turn(begun(tools, "second", "another"))
    assert timedelta(minutes=30) <= clock.passed < timedelta(minutes=31)
    assert "pool `clusters`" in raised.value.mend


def test_an_attempt_whose_process_died_is_not_waited_for(tools: Toolkit, clock: SteppingClock) -> None:
    owners: Any = FixedOwners(alive={"another"})
    await_turn(begun(replace(tools, owners=owners), "second", "another"))
    assert clock.slept == [2.0]


@pytest.mark.parametrize(
    ("key", "content"),
    [("first/databases/.DS_Store", b""), ("second/databases/.DS_Store", b""),
     (f"first/cells/{CELL}/1/progress.json", b"{")],
)  # fmt: skip
def test_files_of_others_and_damaged_ones_let_nobody_load_beside_another(
    tools: Toolkit, clock: SteppingClock, key: str, content: bytes
) -> None:
    work = begun(tools, "second", "another")
    tools.store.write(key, content)
    with pytest.raises(ProviderError, match="db is loaded by first"):
        await_turn(work)
    assert clock.passed >= timedelta(minutes=30)


def test_a_use_whose_attempt_is_not_on_record_any_more_keeps_nobody_waiting(
    tools: Toolkit, clock: SteppingClock
) -> None:
    tools.store.delete(f"first/cells/{CELL}/1")
    await_turn(begun(tools, "second", "another"))
    assert clock.slept == [2.0]


def test_a_cell_that_is_destroyed_while_it_waits_says_so(tools: Toolkit, clock: SteppingClock) -> None:
    leaving: Any = LeavesAfter(clock, tools, naps=2, campaign_id="second")
    with pytest.raises(ProviderError, match="it was destroyed while it waited"):
        await_turn(begun(replace(tools, clock=leaving), "second", "another"))


def test_its_hosts_are_counted_from_its_turn_on_also_when_it_is_asked_again(
    tools: Toolkit, clock: SteppingClock
) -> None:
    leaving: Any = LeavesAfter(clock, tools, naps=3)
    work = begun(replace(tools, clock=leaving), "second", "another")
    since = await_turn(work)
    assert since == BEGAN + timedelta(seconds=22)
    clock.at += timedelta(minutes=5)
    assert await_turn(work) == since


def test_one_on_another_database_is_not_waited_for(tools: Toolkit, clock: SteppingClock) -> None:
    await_turn(begun(tools, "second", "another", contact_points=["other"]))
    assert clock.slept == []


def test_a_campaign_that_can_not_be_read_keeps_nobody_waiting(tools: Toolkit, clock: SteppingClock) -> None:
    tools.store.write(layout.DEFINITION.key("first"), b"name: [")
    await_turn(begun(tools, "second", "another"))
    assert clock.slept == []
