"""The reaper's pass over several clusters."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, RecordsUnread
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.provider import Places, Provider
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.reaping import destroy_owned, living_clusters, living_of, on_this_machine, reap
from plimsoll.services.toolkit import Toolkit

CELLS = ("v1-001k-r1", "v1-002k-r1", "v2-001k-r1")


class EachWaitsForTheLast:
    """A provider whose clusters end when the last of them has; asked one after another, the first would never end."""

    def __init__(self, provider: Provider) -> None:
        self._provider, self._last = provider, threading.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._provider, name)

    def at(self, _: Places) -> "EachWaitsForTheLast":
        return self

    def destroy(self, cluster_id: ClusterId) -> None:
        if cluster_id.purpose == CELLS[-1]:
            self._provider.destroy(cluster_id)
            self._last.set()
            return
        if not self._last.wait(10):
            raise ProviderError("waited for another cluster's end", where=str(cluster_id))
        self._provider.destroy(cluster_id)


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    made.open_campaign(instant_definition(variants=2, loads=2))
    for cell in CELLS:
        actions.provision(begin(made.toolkit, "campaign", cell, "me"))
    return made


@pytest.fixture
def tools(installation: Installation) -> Toolkit:
    provider: Any = EachWaitsForTheLast(installation.toolkit.providers[INSTANT])
    return replace(installation.toolkit, providers={INSTANT: provider})


def test_no_cluster_waits_for_the_end_of_another(tools: Toolkit) -> None:
    reaped = reap(tools, lambda _: False)
    assert reaped.troubles == ()
    assert [cluster.id.purpose for cluster in reaped.destroyed] == list(CELLS)


def test_an_owners_clusters_end_side_by_side_too(tools: Toolkit) -> None:
    assert [one.purpose for one in destroy_owned(tools, lambda owner: owner == "me")] == list(CELLS)


class Broken(EachWaitsForTheLast):
    """A provider that fails for one cluster as nobody expects."""

    def destroy(self, cluster_id: ClusterId) -> None:
        if cluster_id.purpose == CELLS[0]:
            raise RuntimeError("broken")
        self._provider.destroy(cluster_id)


def test_what_nobody_expects_of_one_cluster_is_told_and_all_others_are_gone(installation: Installation) -> None:
    inner = installation.toolkit.providers[INSTANT]
    provider: Any = Broken(inner)
    reaped = reap(replace(installation.toolkit, providers={INSTANT: provider}), lambda _: False)
    assert reaped.troubles == (f"campaign/{CELLS[0]}/1: RuntimeError: broken",)
    assert [cluster.id.purpose for cluster in inner.clusters()] == [CELLS[0]]


class Unbound(EachWaitsForTheLast):
    """A provider that can't even be told where to look."""

    def at(self, _: Places) -> NoReturn:
        raise RecursionError("too deep")


class Confused(EachWaitsForTheLast):
    """A provider that fails to list, as nobody expects."""

    def clusters(self) -> NoReturn:
        raise ValueError("an answer of 31 bytes")


@pytest.mark.parametrize(
    ("kind", "why"), [(Unbound, "RecursionError: too deep"), (Confused, "ValueError: an answer of 31 bytes")]
)
def test_a_provider_that_fails_as_nobody_expects_is_named_and_keeps_no_other_from_being_asked(
    kind: Any, why: str, installation: Installation
) -> None:
    inner = installation.toolkit.providers[INSTANT]
    providers: Any = {"first": kind(inner), INSTANT: inner}
    reaped = reap(replace(installation.toolkit, providers=providers), lambda _: False)
    assert reaped.troubles == (f"provider first: {why}",)
    assert [cluster.id.purpose for cluster in reaped.destroyed] == list(CELLS)


def test_a_cost_that_fails_as_nobody_expects_keeps_no_other_from_being_recorded(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object, __: object, cluster_id: ClusterId, *___: object) -> None:
        if cluster_id.purpose == CELLS[0]:
            raise ValueError("a file of others")

    monkeypatch.setattr("plimsoll.services.hosts.reaping.record_cost", broken)
    reaped = reap(installation.toolkit, lambda _: False)
    assert len(reaped.destroyed) == len(CELLS)
    assert reaped.troubles == (
        f"campaign/{CELLS[0]}/1: what it has cost can't be recorded: ValueError: a file of others",
    )


def test_a_record_of_launches_that_is_damaged_keeps_no_cell_from_beginning(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread() -> NoReturn:
        raise RecordsUnread("hosts that EC2 does not list yet are not known: launches/x is damaged", [])

    monkeypatch.setattr(installation.toolkit.providers[INSTANT], "clusters", unread)
    assert begin(installation.toolkit, "campaign", CELLS[0], "me").key.attempt == 2


class Refused(EachWaitsForTheLast):
    """A provider that can't destroy anything."""

    def destroy(self, cluster_id: ClusterId) -> None:
        raise ProviderError("may not be asked", where=str(cluster_id))


def test_while_the_store_is_away_a_provider_that_fails_keeps_no_other_from_being_tried(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows whose hosts they are, so each provider is asked to destroy them."""
    inner = installation.toolkit.providers[INSTANT]
    refused: Any = Refused(inner)
    tools = replace(installation.toolkit, providers={"first": refused, INSTANT: inner})
    work = AttemptContext(tools, AttemptKey(campaign_id="campaign", cell_id=CELLS[0], attempt=1))
    providers = list(tools.providers.values())
    monkeypatch.setattr(actions, "_providers", lambda _: providers)
    with pytest.raises(ProviderError, match="may not be asked"):
        actions.destroy(work)
    assert CELLS[0] not in [cluster.id.purpose for cluster in inner.clusters()]


class RefusedOnce(EachWaitsForTheLast):
    """A provider that can't destroy the first attempt at a cell."""

    def destroy(self, cluster_id: ClusterId) -> None:
        if cluster_id.number == 1:
            raise ProviderError("is protected", where=str(cluster_id))
        self._provider.destroy(cluster_id)


def test_an_older_cluster_that_resists_keeps_no_other_older_one_alive(installation: Installation) -> None:
    inner = installation.toolkit.providers[INSTANT]
    cluster = installation.toolkit.provider_everywhere(INSTANT).clusters()[0]
    for number in (1, 2, 3):
        inner.ensure(
            ClusterRequest(
                id=ClusterId.of("campaign", CELLS[0], number), owner="me", nodes=1, expires_at=cluster.expires_at
            )
        )
    provider: Any = RefusedOnce(inner)
    tools = replace(installation.toolkit, providers={INSTANT: provider})
    with pytest.raises(ProviderError, match="is protected"):
        begin(tools, "campaign", CELLS[0], "me")
    left = [cluster.id.number for cluster in inner.clusters() if cluster.id.purpose == CELLS[0]]
    assert left == [1]


class _Unreadable:
    """Places that only a store can tell, which is out of reach."""

    def of_campaign(self, provider: str, campaign_id: str) -> Places:
        raise AssertionError((provider, campaign_id))

    def known(self, provider: str) -> Places:
        raise AssertionError(provider)


def test_what_runs_on_this_machine_is_found_without_the_store(installation: Installation) -> None:
    toolkit = on_this_machine(replace(installation.toolkit, places=_Unreadable()))

    assert {cluster.id.purpose for cluster in living_clusters(toolkit).clusters} == set(CELLS)


class Borrower:
    """A provider whose clusters have the hosts of another."""

    name = "external"

    def __init__(self, lender: Provider) -> None:
        self._lender = lender

    def clusters(self) -> Sequence[Cluster]:
        return [cluster.model_copy(update={"provider": self.name}) for cluster in self._lender.clusters()]


def test_a_cluster_whose_hosts_another_provider_lends_counts_once_for_the_one_that_can_end_all_of_it(
    installation: Installation,
) -> None:
    lender = installation.toolkit.providers[INSTANT]
    borrower: Any = Borrower(lender)

    living = living_of({INSTANT: lambda: lender, "external": lambda: borrower})

    assert [(one.id.purpose, one.provider) for one in living.clusters] == [(cell, "external") for cell in CELLS]


class Rumour(Borrower):
    """A provider that has only heard of clusters."""

    def clusters(self) -> Sequence[Cluster]:
        return [cluster.model_copy(update={"hosts": (), "owner": "dead"}) for cluster in super().clusters()]


def test_a_cluster_with_hosts_is_never_hidden_by_one_that_somebody_has_only_heard_of(
    installation: Installation,
) -> None:
    """Whoever may make tables in a database can plant a mark that names any cluster."""
    lender = installation.toolkit.providers[INSTANT]
    rumour: Any = Rumour(lender)

    living = living_of({INSTANT: lambda: lender, "external": lambda: rumour})

    assert [(one.id.purpose, one.provider, one.owner) for one in living.clusters] == [
        (cell, INSTANT, "me") for cell in CELLS
    ]
    assert living_of({"external": lambda: rumour}).clusters[0].hosts == ()
