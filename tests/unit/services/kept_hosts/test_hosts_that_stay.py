"""Kept hosts that do not answer, or can't be ended: they are in nobody's way, and the end of the run names them."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.owners import FixedOwners
from tests.unit.services.kept_definition import CELLS, kept
from tests.unit.services.kept_hosts.hosts import Fixed, cluster_of, started

from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import ProviderError, StoreError
from plimsoll.ports.provider import Provider
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempt_state import cancel
from plimsoll.services.hosts import ending as booking
from plimsoll.services.hosts import kept_hosts
from plimsoll.services.steps.running import run_cells
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit


def fallen_silent(installation: Installation, tools: Toolkit) -> tuple[Fixed, Toolkit]:
    """Return the hosts of the first cell do not answer any more when the second one runs, on others."""
    provider = Fixed(installation)
    tools = replace(tools, providers={"instant": provider})
    actions.destroy(started(tools, CELLS[0]))
    provider.silent = {"hosts/1"}
    actions.destroy(started(tools, CELLS[1]))
    return provider, tools


def test_where_hosts_do_not_answer_others_are_used_and_they_are_ended_once_they_do(
    installation: Installation, tools: Toolkit
) -> None:
    provider = Fixed(installation)
    tools = replace(tools, providers={"instant": provider})
    actions.destroy(started(tools, CELLS[0]))
    provider.silent = {"hosts/1"}
    second = started(tools, CELLS[1])
    assert cluster_of(tools, second) == "hosts/2"
    assert "node2 can't be reached" in layout.FINGERPRINT.read(tools.store, second.key).replaces
    actions.destroy(second)
    assert sorted(one.id.name for one in provider.clusters()) == ["hosts/1", "hosts/2"]
    provider.silent = set()
    actions.destroy(started(tools, CELLS[2]))
    assert [one.id.name for one in provider.clusters()] == ["hosts/2"]
    kept_hosts.end_kept(tools, "campaign")
    assert provider.clusters() == []


def test_hosts_that_answer_again_and_can_not_be_ended_are_in_nobodys_way(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, tools = fallen_silent(installation, tools)

    def resist(cluster_id: ClusterId) -> None:
        raise ProviderError("process 7 (java) runs", where=str(cluster_id))

    with monkeypatch.context() as patched:
        patched.setattr(provider, "destroy", resist)
        third = started(tools, CELLS[2])
    assert cluster_of(tools, third) == "hosts/2"
    actions.destroy(third)
    with pytest.raises(ProviderError, match="hosts could not be freed"):
        kept_hosts.end_kept(tools, "campaign")


def test_a_run_that_ends_while_hosts_do_not_answer_says_so(installation: Installation, tools: Toolkit) -> None:
    provider, tools = fallen_silent(installation, tools)
    with pytest.raises(ProviderError, match=r"hosts could not be freed: .*node2 can't be reached"):
        kept_hosts.end_kept(tools, "campaign")
    assert [one.id.name for one in provider.clusters()] == ["hosts/1"]


def test_hosts_that_ended_themselves_are_no_trouble_of_later_runs(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    provider, tools = fallen_silent(installation, tools)
    clock.at += timedelta(hours=5)
    kept_hosts.end_kept(tools, "campaign")
    # The provider here shows what has expired, and still can't end it: all others are gone.
    assert [(one.id.name, one.expires_at < clock.at) for one in provider.clusters()] == [("hosts/1", True)]
    third = started(tools, CELLS[2])
    assert cluster_of(tools, third) == "hosts/3"
    actions.destroy(third)
    kept_hosts.end_kept(tools, "campaign")
    assert [one.id.name for one in provider.clusters()] == ["hosts/1"]


def test_hosts_of_another_variant_that_do_not_answer_are_in_nobodys_way(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(kept("variant"))
    provider = Fixed(installation)
    tools = replace(installation.toolkit, owners=FixedOwners(alive={"me"}), providers={"instant": provider})
    actions.destroy(started(tools, "v1-001k-r1"))
    provider.silent = {"v1-hosts/1"}
    second = started(tools, "v2-001k-r1")
    assert cluster_of(tools, second) == "v2-hosts/1"
    actions.destroy(second)
    with pytest.raises(ProviderError, match=r"hosts could not be freed: .*node2 can't be reached"):
        kept_hosts.end_kept(tools, "campaign")
    assert [one.id.name for one in provider.clusters()] == ["v1-hosts/1"]
    provider.silent = set()
    kept_hosts.end_kept(tools, "campaign")
    assert provider.clusters() == []


def test_hosts_of_another_variant_that_can_not_be_ended_are_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(kept("variant"))
    tools, end = installation.toolkit, installation.provider.destroy

    def resist(cluster_id: ClusterId) -> None:
        if cluster_id.purpose == "v1-hosts":
            raise ProviderError("process 7 (java) runs", where=str(cluster_id))
        end(cluster_id)

    with monkeypatch.context() as patched:
        patched.setattr(tools.providers["instant"], "destroy", resist)
        ran = run_cells(tools, "campaign", ["v1-001k-r1", "v2-001k-r1", "v2-002k-r1"], "me", print)
    assert [one.verdict.valid for one in ran] == [True] * 3
    assert [one.remains for one in ran] == [False, False, True]
    assert "hosts could not be freed: campaign/v1-hosts/1: process 7 (java) runs" in ran[-1].troubles[0]
    assert [one.id.name for one in installation.provider.clusters()] == ["v1-hosts/1"]
    kept_hosts.end_kept(tools, "campaign")
    assert installation.provider.clusters() == []


def test_hosts_whose_cost_can_not_be_recorded_keep_no_others_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(kept("variant"))
    tools, destroy = installation.toolkit, booking.destroy_cluster

    def unrecorded(tools: Toolkit, provider: Provider, cluster_id: ClusterId) -> None:
        if cluster_id.purpose == "v1-hosts":
            raise StoreError("what it has cost could not be recorded")
        destroy(tools, provider, cluster_id)

    with monkeypatch.context() as patched:
        patched.setattr(tools.providers["instant"], "destroy", lambda _: resisting())
        for cell in ("v1-001k-r1", "v2-001k-r1"):
            actions.destroy(started(tools, cell))
    monkeypatch.setattr(kept_hosts, "destroy_cluster", unrecorded)
    with pytest.raises(StoreError, match="could not be recorded"):
        kept_hosts.end_kept(tools, "campaign")
    assert [one.id.name for one in installation.provider.clusters()] == ["v1-hosts/1"]


def resisting() -> NoReturn:
    raise ProviderError("process 7 (java) runs")


def test_hosts_that_resist_when_others_replace_them_are_in_nobodys_way(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = started(tools, CELLS[0])
    cancel(first, "somebody")

    def resist(cluster_id: ClusterId) -> None:
        raise ProviderError("process 7 (java) runs", where=str(cluster_id))

    with monkeypatch.context() as patched:
        patched.setattr(tools.providers["instant"], "destroy", resist)
        with pytest.raises(ProviderError):
            actions.destroy(first)
        second = started(tools, CELLS[1])
    assert cluster_of(tools, second) == "hosts/2"
    actions.destroy(second)
    assert sorted(one.id.name for one in installation.provider.clusters()) == ["hosts/1", "hosts/2"]
    actions.destroy(started(tools, CELLS[2]))
    assert [one.id.name for one in installation.provider.clusters()] == ["hosts/2"]
