"""Records in the store that can't be read, such as files that a loss of power has left empty."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import PaidProvider, Prices

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import DamagedRecord, StoreError
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.kept_records import (
    ASSIGNMENT,
    REPLACED,
    RETIRED,
    UNFIT,
    newest_assignment,
    retirement_of,
    unfit_hosts,
    why_replaced,
)
from plimsoll.services.hosts.paid_hosts import StoredLaunches, read_launches
from plimsoll.services.hosts.reaping import reap
from plimsoll.services.hosts.spending import ledger
from plimsoll.services.ownership import HOLD, require_free
from plimsoll.services.publish.publishing import check_campaign
from plimsoll.services.retries import Outage, with_retries
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

KEY = AttemptKey(campaign_id="campaign", cell_id="v1-001k-r1", attempt=1)
OWN, KEPT = ClusterId.of_attempt(KEY), ClusterId.parse("campaign/hosts/1")
ATTEMPT, VERDICT = layout.ATTEMPT.key(KEY), layout.VERDICT.key(KEY)

Read = Callable[[Toolkit], object]
READS: tuple[tuple[str, Read], ...] = (
    (ATTEMPT, lambda tools: layout.ATTEMPT.read(tools.store, KEY)),
    (layout.MANIFEST.key(KEY), lambda tools: layout.MANIFEST.read(tools.store, KEY)),
    (VERDICT, lambda tools: layout.VERDICT.read(tools.store, KEY)),
    (VERDICT, lambda tools: list(CampaignStore(tools.store, "campaign").verdicts())),
    (VERDICT, lambda tools: check_campaign(tools, "campaign")),
    (HOLD.key("campaign", 1), lambda tools: require_free(tools, "campaign")),
    (layout.LAUNCH.key(OWN, "token"), lambda tools: read_launches(tools.store, OWN)),
    (layout.CLUSTER.key(KEPT), lambda tools: layout.CLUSTER.read(tools.store, KEPT)),
    (RETIRED.key(KEPT), lambda tools: retirement_of(tools.store, KEPT)),
    (REPLACED.key(KEPT, 1), lambda tools: why_replaced(tools.store, KEPT)),
    (UNFIT.key(KEPT, 1), lambda tools: unfit_hosts(tools.store, KEPT)),
    (ASSIGNMENT.key("campaign", "hosts", 1), lambda tools: newest_assignment(tools.store, "campaign", "hosts")),
)


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    made.open_campaign(instant_definition(variants=1, loads=2))
    return made


@pytest.fixture
def tools(installation: Installation) -> Toolkit:
    """Provide a toolkit whose hosts cost money."""
    tools = installation.toolkit
    provider = PaidProvider(tools.providers["instant"], tools.clock)
    return replace(tools, clock=SteppingClock(), providers={"instant": provider}, tariffs={"instant": Prices()})


@pytest.mark.parametrize(("key", "read"), READS)
def test_one_that_is_empty_is_an_error_of_the_store_that_names_it_with_its_mend(
    tools: Toolkit, key: str, read: Read
) -> None:
    tools.store.write(key, b"")

    with pytest.raises(StoreError, match="is damaged: is no JSON: EOF") as caught:
        read(tools)

    assert caught.value.where == tools.store.url(key)
    assert "put the file back" in caught.value.mend


def test_of_one_that_is_whole_but_wrong_the_wrong_part_is_named(tools: Toolkit) -> None:
    tools.store.write(ATTEMPT, b'{"key": {"campaign_id": 1}}')

    with pytest.raises(DamagedRecord, match=r"is damaged: key\.campaign_id: must be text"):
        layout.ATTEMPT.read(tools.store, KEY)


def test_no_time_is_spent_on_trying_it_again() -> None:
    clock = SteppingClock()

    def damaged() -> NoReturn:
        raise DamagedRecord("is damaged")

    with pytest.raises(DamagedRecord):
        with_retries(clock, damaged, print)
    assert clock.slept == []


def test_it_keeps_nobody_from_the_rest_of_the_store(tools: Toolkit) -> None:
    launches = StoredLaunches(tools.store, Outage(tools.clock))
    tools.store.write(layout.LAUNCH.key(OWN, "token"), b"")

    with pytest.raises(DamagedRecord):
        launches.of(OWN)
    assert launches.of(KEPT) == ()


def test_the_reaper_ends_every_cluster_and_records_what_the_others_have_cost(
    installation: Installation, tools: Toolkit
) -> None:
    broken, sound = [begin(tools, "campaign", cell, "me") for cell in ("v1-001k-r1", "v1-002k-r1")]
    for work in (broken, sound):
        actions.provision(work)
    name = layout.CLUSTER.key(broken.cluster_id)
    tools.store.write(name, b"")

    reaped = reap(tools, lambda _: False)

    assert installation.provider.clusters() == []
    [trouble] = reaped.troubles
    assert trouble.startswith(f"{broken.cluster_id}: what it has cost can't be recorded: {tools.store.url(name)}")
    tools.store.delete(name)
    final = {entry.key: entry.final for entry in ledger(CampaignStore(tools.store, "campaign"), tools.clock.now())}
    assert final == {broken.key: False, sound.key: True}
