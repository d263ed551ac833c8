"""Hosts end although the store or the cloud does not show them."""

from dataclasses import replace
from typing import Any, NoReturn, cast

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.unit.services.spending.paid_campaign import HOUR, opened, read_cost, start

from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import StoreError
from plimsoll.ports.store import ResultStore
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.reaping import destroy_owned, destroy_unseen, reap
from plimsoll.services.toolkit import Toolkit


def test_a_cell_that_begins_again_destroys_what_no_cloud_shows_yet(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has recorded the end of the attempt before."""
    opened(installation, budget=None)
    first = begin(tools, "campaign", "v1-001k-r1", "me")
    destroyed: list[ClusterId] = []
    monkeypatch.setattr(tools.providers["instant"], "destroy", destroyed.append)
    begin(tools, "campaign", "v1-001k-r1", "another")
    assert destroyed == [first.cluster_id]


class Unreachable:
    """A store whose broken methods fail; the others work as before."""

    def __init__(self, store: ResultStore, *broken: str) -> None:
        self._store, self._broken = store, broken

    def __getattr__(self, name: str) -> Any:
        if name in self._broken:
            return self._fail
        return getattr(self._store, name)

    def _fail(self, *_: object, **__: object) -> NoReturn:
        raise StoreError("can't be used: connection refused")


def without(tools: Toolkit, *broken: str) -> Toolkit:
    """Return the toolkit with a store whose methods of these names fail."""
    return replace(tools, store=cast(ResultStore, Unreachable(tools.store, *broken)))


@pytest.mark.parametrize("broken", [("read", "exists", "keys", "folders", "write", "create"), ("write", "create")])
def test_a_store_out_of_reach_keeps_no_hosts_alive(
    installation: Installation, tools: Toolkit, clock: SteppingClock, broken: tuple[str, ...]
) -> None:
    opened(installation, budget=None)
    work = start(tools)
    clock.at += HOUR
    later = AttemptContext(without(tools, *broken), work.key)
    with pytest.raises(StoreError, match=r"the cluster is gone, but what it has cost could not be recorded") as caught:
        actions.destroy(later)
    assert f"plimsoll clusters destroy {work.key}" in caught.value.mend
    assert installation.provider.clusters() == []


def test_the_reaper_ends_all_clusters_before_it_tells_of_a_store_out_of_reach(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=None)
    works = [start(tools, cell) for cell in ("v1-001k-r1", "v1-002k-r1")]
    reaped = reap(without(tools, "read", "keys", "write"), lambda _: False)
    assert installation.provider.clusters() == []
    assert [cluster.id for cluster in reaped.destroyed] == [work.cluster_id for work in works]
    first, others = reaped.troubles
    assert "could not be recorded" in first
    # They end side by side: whichever was first is tried, and the other is only named.
    (named,) = (str(work.key) for work in works if str(work.key) in others)
    assert named not in first


def test_an_account_that_stayed_open_in_an_outage_is_closed_by_the_reaper_once_nobody_works_on_it(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=None)
    works = [start(tools, cell) for cell in ("v1-001k-r1", "v1-002k-r1")]
    clock.at += HOUR
    for work in works:
        with pytest.raises(StoreError):
            actions.destroy(AttemptContext(without(tools, "write", "create"), work.key))
    assert reap(tools, lambda _: True).troubles == ()
    assert [read_cost(tools.store, work.key) for work in works] == [None, None]
    reaped = reap(tools, lambda cluster: cluster.id == works[1].cluster_id and cluster.owner == "me")
    assert (reaped.destroyed, reaped.troubles) == ((), ())
    assert read_cost(tools.store, works[0].key).usd == pytest.approx(4.0, rel=0.05)
    assert read_cost(tools.store, works[1].key) is None


def test_an_owners_clusters_end_without_the_store(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=None)
    works = [start(tools, cell) for cell in ("v1-001k-r1", "v1-002k-r1")]
    blind = without(tools, "read", "exists", "keys", "folders", "write")
    assert destroy_owned(blind, lambda owner: owner == "nobody") == ()
    assert destroy_owned(blind, lambda owner: owner == "me") == tuple(work.cluster_id for work in works)
    assert installation.provider.clusters() == []


def test_an_attempt_that_no_cloud_shows_is_destroyed_by_its_name(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=None)
    work = start(tools)
    clock.at += HOUR
    assert destroy_unseen(tools, str(work.key))
    assert read_cost(tools.store, work.key).usd == pytest.approx(4.0)
    assert not destroy_unseen(tools, str(work.key)), "its account is closed"
    assert not destroy_unseen(tools, "campaign")
