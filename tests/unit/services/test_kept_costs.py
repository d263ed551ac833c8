"""What kept hosts cost: shared out by time among the attempts that used them, the rest named as idle time."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.owners import FixedOwners
from tests.fakes.paid import PaidProvider, Prices
from tests.unit.services.kept_definition import CELLS, kept

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cluster import ClusterId, Launch
from plimsoll.domain.hosts.cost import Spending
from plimsoll.domain.text.errors import Refused, StoreError
from plimsoll.ports.store import ResultStore
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts import kept_hosts, kept_records
from plimsoll.services.hosts.ending import destroy_cluster, record_share
from plimsoll.services.hosts.kept_records import (
    ASSIGNMENT,
    OF_ATTEMPT,
    Assignment,
    assignment_of,
    end_assignment,
    newest_assignment,
)
from plimsoll.services.hosts.paid_hosts import note_begun, open_accounts
from plimsoll.services.hosts.reaping import destroy_unseen, reap
from plimsoll.services.hosts.spending import campaign_spending, ledger, spent_so_far
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

HOSTS = ClusterId.kept("campaign", "", 1)
HOUR = timedelta(hours=1)
"""In which the four hosts of the cluster cost 4 USD."""


@pytest.fixture
def tools(tmp_path: Path, clock: SteppingClock) -> Toolkit:
    return paid_tools(tmp_path, clock)


def paid_tools(folder: Path, clock: SteppingClock) -> Toolkit:
    made = Installation(folder)
    plain = kept("campaign")
    timing = plain.timing.model_copy(update={"duration": 9 * HOUR, "warmup": 0 * HOUR})
    made.open_campaign(plain.model_copy(update={"timing": timing}))
    owners, provider = FixedOwners(alive={"me"}), PaidProvider(made.toolkit.providers["instant"], clock)
    providers = {"instant": provider}
    return replace(made.toolkit, clock=clock, owners=owners, providers=providers, tariffs={"instant": Prices()})


def started(tools: Toolkit, cell_id: str, owner: str = "me") -> AttemptContext:
    work = begin(tools, "campaign", cell_id, owner)
    actions.provision(work)
    return work


def spending(tools: Toolkit) -> Spending:
    found = campaign_spending(CampaignStore(tools.store, "campaign"), tools.clock.now())
    assert found is not None
    return found


def shares(tools: Toolkit) -> dict[str, float]:
    return {entry.key.cell_id: entry.usd for entry in spending(tools).entries}


def test_each_attempt_pays_for_the_time_that_it_had_the_hosts(tools: Toolkit, clock: SteppingClock) -> None:
    for cell, hours in ((CELLS[0], 2), (CELLS[1], 1)):
        work = started(tools, cell)
        clock.at += hours * HOUR
        actions.destroy(work)
        clock.at += HOUR / 2
    assert shares(tools) == pytest.approx({CELLS[0]: 8.0, CELLS[1]: 4.0})
    assert spending(tools).idle_usd == pytest.approx(4.0)
    kept_hosts.end_kept(tools, "campaign")
    clock.at += 3 * HOUR
    account = spending(tools)
    assert (account.usd, account.idle_usd) == (pytest.approx(16.0), pytest.approx(4.0))
    assert all(entry.final for entry in (*account.entries, *account.idle))
    campaign = CampaignStore(tools.store, "campaign")
    assert "of it 4.00 USD while kept hosts stood idle" in spent_so_far(tools, campaign, campaign.resolved())


def test_an_attempt_that_runs_has_cost_what_its_hosts_have_so_far(tools: Toolkit, clock: SteppingClock) -> None:
    started(tools, CELLS[0])
    clock.at += HOUR
    account = spending(tools)
    assert (account.usd, account.idle_usd) == (pytest.approx(4.0), 0)
    assert not account.entries[0].final


def test_an_attempt_whose_process_died_pays_until_the_next_one_begins(tools: Toolkit, clock: SteppingClock) -> None:
    started(tools, CELLS[0], "dead")
    clock.at += HOUR
    second = started(tools, CELLS[1])
    clock.at += 2 * HOUR
    actions.destroy(second)
    assert shares(tools) == pytest.approx({CELLS[0]: 4.0, CELLS[1]: 8.0})
    assert [entry.final for entry in spending(tools).entries] == [True, True]


def test_a_cell_that_runs_again_does_not_bill_its_dead_attempt_for_the_whole_cluster(
    tools: Toolkit, clock: SteppingClock
) -> None:
    actions.destroy(started(tools, CELLS[1]))
    clock.at += HOUR
    started(tools, CELLS[0], "dead")
    clock.at += HOUR
    started(tools, CELLS[0])
    assert spending(tools).of_cell(CELLS[0]) == pytest.approx(4.0)


def test_the_reaper_puts_on_record_what_kept_hosts_have_cost(tools: Toolkit, clock: SteppingClock) -> None:
    work = started(tools, CELLS[0])
    clock.at += HOUR
    actions.destroy(work)
    clock.at += HOUR
    assert reap(tools, lambda _: False).troubles == ()
    clock.at += 9 * HOUR
    account = spending(tools)
    assert (account.usd, account.idle_usd) == (pytest.approx(8.0), pytest.approx(4.0))
    assert not destroy_unseen(tools, "campaign/hosts/1"), "its account is closed"


@pytest.mark.parametrize("is_launched", [False, True])
def test_the_account_of_hosts_that_were_never_provided_is_closed_once_nobody_works_on_them(
    tools: Toolkit, clock: SteppingClock, is_launched: bool
) -> None:
    """A process was killed while it waited for room."""
    work = begin(tools, "campaign", CELLS[0], "me")
    kept_hosts.take(tools, work.resolved, work.attempt(), clock.now() + HOUR)
    if is_launched:  # and the record of its use was lost
        layout.LAUNCH.write(tools.store, HOSTS, refused_launch(clock.now()), "0" * 16)
        tools.store.delete(ASSIGNMENT.folder("campaign", HOSTS.purpose))
        tools.store.delete(OF_ATTEMPT.key(work.key))
    campaign = CampaignStore(tools.store, "campaign")
    assert reap(tools, lambda cluster: cluster.owner == "me").troubles == ()
    assert set(open_accounts(campaign)) == {HOSTS, ClusterId.of_attempt(work.key)}
    assert reap(tools, lambda _: False).troubles == ()
    assert open_accounts(campaign) == ()
    assert started(tools, CELLS[1]).cluster_id == HOSTS.numbered(2), "whose account is open"


def test_an_account_without_any_use_costs_nothing(tools: Toolkit) -> None:
    """Its process was killed between the two records."""
    work = begin(tools, "campaign", CELLS[0], "me")
    note_begun(tools, work.resolved, HOSTS)
    assert spending(tools).usd == 0


def refused_launch(at: datetime) -> Launch:
    place = {"region": "us-east-1"}
    return Launch(
        id=HOSTS, token="0" * 16, role="node", place=place, asked_at=at, expires_at=at + HOUR, owner="me", hosts=()
    )


def test_idle_time_counts_towards_the_budget(tools: Toolkit, clock: SteppingClock) -> None:
    campaign = CampaignStore(tools.store, "campaign")
    campaign.open(campaign.declared().model_copy(update={"budget": 44.0}))  # a cell is 36 USD
    work = started(tools, CELLS[0])
    clock.at += HOUR
    actions.destroy(work)
    assert begin(tools, "campaign", CELLS[1], "me")
    clock.at += 10 * HOUR
    with pytest.raises(Refused, match="no room for another cell"):
        begin(tools, "campaign", CELLS[2], "me")


class Counting:
    """A store that counts what it is asked to read or list."""

    def __init__(self, store: ResultStore) -> None:
        self._store, self.asked = store, 0

    def __getattr__(self, name: str) -> Any:
        if name in ("read", "keys"):
            self.asked += 1
        return getattr(self._store, name)


def used_so_often(tools: Toolkit, assignments: int) -> None:
    """Put so many uses of one kept cluster on record, of which the last one lasts."""
    definition, cluster_id = CampaignStore(tools.store, "campaign").declared(), ClusterId.kept("campaign", "", 1)
    note_begun(tools, resolve(definition), cluster_id)
    for number in range(1, assignments + 1):
        key, now = AttemptKey(campaign_id="campaign", cell_id=CELLS[0], attempt=number), tools.clock.now()
        use = Assignment(attempt=key, owner="me", cluster=cluster_id, since=now, until=now + HOUR)
        ASSIGNMENT.create(tools.store, "campaign", use, "hosts", number)
        OF_ATTEMPT.write(tools.store, key, use)
        note_begun(tools, resolve(definition), ClusterId.of_attempt(key))
        if number < assignments:
            end_assignment(tools.store, "campaign", "hosts", number, now + HOUR / 2)


def asked_of(make: Callable[[Path], Toolkit], folder: Path, assignments: int, what: Callable[[Toolkit], object]) -> int:
    tools = make(folder / str(assignments))
    used_so_often(tools, assignments)
    store = Counting(tools.store)
    what(replace(tools, store=cast(ResultStore, store)))
    return store.asked


def its_ledger(tools: Toolkit) -> object:
    return ledger(CampaignStore(tools.store, "campaign"), tools.clock.now())


def its_end(tools: Toolkit) -> None:
    destroy_cluster(tools, tools.providers["instant"], ClusterId.kept("campaign", "", 1))


@pytest.mark.parametrize("what", [its_ledger, its_end])
def test_what_is_read_of_the_store_grows_with_the_uses_not_with_their_square(
    tmp_path: Path, clock: SteppingClock, what: Callable[[Toolkit], object]
) -> None:
    def make(folder: Path) -> Toolkit:
        return paid_tools(folder, clock)

    few, more, most = (asked_of(make, tmp_path, assignments, what) for assignments in (4, 8, 16))
    assert most - more <= 2 * (more - few)
    assert most <= 4 * 16 + 10


def test_the_first_end_of_a_use_counts(tools: Toolkit) -> None:
    used_so_often(tools, 1)
    first = tools.clock.now()
    for at in (first + HOUR, first, first + 2 * HOUR):
        end_assignment(tools.store, "campaign", "hosts", 1, at)
    assert newest_assignment(tools.store, "campaign", "hosts")[1].over_at == first


def test_an_attempt_that_moves_to_other_hosts_is_not_final_while_it_runs(tools: Toolkit, clock: SteppingClock) -> None:
    work = started(tools, CELLS[0])
    clock.at += HOUR
    kept_records.retire(tools, work.cluster_id, "a host of it died")
    actions.provision(work)
    assert work.cluster_id.number == 2
    clock.at += HOUR
    [entry] = spending(tools).entries
    assert (entry.usd, entry.final) == (pytest.approx(8.0), False)
    actions.destroy(work)
    [entry] = spending(tools).entries
    assert (entry.usd, entry.final) == (pytest.approx(8.0), True)


def test_older_hosts_destroyed_by_hand_do_not_close_the_account_of_who_goes_on_with_others(
    tools: Toolkit, clock: SteppingClock
) -> None:
    work, provider = started(tools, CELLS[0]), tools.providers["instant"]
    older, seen = work.cluster_id, provider.find(work.cluster_id)
    assert seen is not None
    clock.at += HOUR
    kept_records.retire(tools, older, "a host of it died")
    actions.provision(work)
    clock.at += HOUR
    destroy_cluster(tools, provider, older, seen)  # as somebody who still sees a host of it
    [entry] = spending(tools).entries
    assert entry.final is False
    clock.at += HOUR
    actions.destroy(work)
    [entry] = spending(tools).entries
    assert entry.final is True


def test_a_dead_attempts_share_that_can_not_be_recorded_holds_up_nobody(
    tools: Toolkit, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(tools, CELLS[0], "dead")
    clock.at += HOUR

    def away(*_: object) -> None:
        raise StoreError("connection refused")

    with monkeypatch.context() as patched:
        patched.setattr(kept_hosts, "record_share", away)
        second = started(tools, CELLS[1])
    assert assignment_of(tools.store, second.key)
    actions.destroy(second)
    kept_hosts.end_kept(tools, "campaign")
    assert shares(tools)[CELLS[0]] == pytest.approx(4.0)


def test_a_use_that_its_attempt_could_not_note_ends_with_it(tools: Toolkit, clock: SteppingClock) -> None:
    work = started(tools, CELLS[0])
    tools.store.delete(OF_ATTEMPT.key(work.key))
    clock.at += HOUR
    actions.destroy(AttemptContext(tools, work.key))
    assert newest_assignment(tools.store, "campaign", "hosts")[1].over
    assert shares(tools) == pytest.approx({CELLS[0]: 4.0})


def test_of_a_share_that_can_not_be_recorded_nobody_says_that_the_hosts_are_gone(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = started(tools, CELLS[0])

    def away(*_: object) -> None:
        raise StoreError("connection refused")

    monkeypatch.setattr(tools.store, "write", away)
    with pytest.raises(StoreError, match="what the attempt has cost on kept hosts could not be recorded") as caught:
        record_share(tools, tools.providers["instant"], work.key)
    assert "clusters destroy" not in caught.value.mend


def test_an_account_without_prices_is_closed_beside_a_damaged_record_of_an_attempt(
    tools: Toolkit, clock: SteppingClock
) -> None:
    unpriced = replace(tools, tariffs={"instant": Prices(None)})
    work = started(unpriced, CELLS[0])
    clock.sleep(3600)
    tools.store.write(OF_ATTEMPT.key(work.key), b"{")
    destroy_cluster(unpriced, unpriced.providers["instant"], HOSTS)
    assert open_accounts(CampaignStore(tools.store, "campaign")) == ()
