"""Kept hosts that died, or that can't be cleared: others take their place, and fingerprints say so."""

from dataclasses import replace
from typing import NoReturn

import pytest
from tests.fakes.installation import Installation
from tests.unit.services.kept_definition import CELLS
from tests.unit.services.kept_hosts.hosts import Replacing, cluster_of, environments, started

from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import ProviderError
from plimsoll.services.cell import actions, loading
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit


def test_hosts_that_died_between_cells_are_replaced_and_later_fingerprints_say_so(
    installation: Installation, tools: Toolkit
) -> None:
    first = started(tools, CELLS[0])
    actions.destroy(first)
    installation.provider.destroy(ClusterId.kept("campaign", "", 1))
    later = [started(tools, CELLS[1])]
    actions.destroy(later[0])
    later.append(started(tools, CELLS[2]))
    assert [cluster_of(tools, work) for work in (first, *later)] == ["hosts/1", "hosts/2", "hosts/2"]
    assert [layout.FINGERPRINT.read(tools.store, work.key).replaces for work in later] == ["hosts of it were gone"] * 2


def test_what_can_not_be_cleared_is_destroyed_and_replaced(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = started(tools, CELLS[0])

    def resist(*_: object, **__: object) -> None:
        raise ProviderError("process 7 (java) runs")

    with monkeypatch.context() as patched:
        patched.setattr(tools.providers["instant"], "clear", resist)
        actions.destroy(first)
    assert installation.provider.journal() == ["+ campaign/hosts/1", "- campaign/hosts/1"]
    second = started(tools, CELLS[1])
    assert "process 7 (java) runs" in layout.FINGERPRINT.read(tools.store, second.key).replaces


def test_hosts_stay_while_their_provider_can_not_be_asked_for_them(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> NoReturn:
        raise ProviderError("ec2 can't be reached")

    first = started(tools, CELLS[0])
    with monkeypatch.context() as patched:
        patched.setattr(tools.providers["instant"], "find", away)
        actions.destroy(first)
    assert environments(installation) == set()
    started(tools, CELLS[1])
    assert installation.provider.journal() == ["+ campaign/hosts/1"]


def test_a_host_that_died_under_a_cell_is_replaced_alone_and_later_fingerprints_say_so(
    installation: Installation, tools: Toolkit
) -> None:
    provider = Replacing(installation)
    tools = replace(tools, providers={"instant": provider})
    first = started(tools, CELLS[0])
    provider.lost = {"127.9.9.2"}
    assert loading.poll_load(first).reason.startswith("the cluster is gone")
    actions.destroy(first)
    later = []
    for cell_id in CELLS[1:]:
        later.append(started(tools, cell_id))
        assert environments(installation) == {later[-1].key.environment}
        actions.destroy(later[-1])
    assert [cluster_of(tools, work) for work in (first, *later)] == ["hosts/1"] * 3
    reasons = [layout.FINGERPRINT.read(tools.store, work.key).replaces for work in later]
    assert reasons == ["127.9.9.2 died and was replaced by 127.9.10.2"] * 2
    assert provider.journal() == ["+ campaign/hosts/1"]


def test_hosts_of_which_nothing_is_left_are_not_made_whole(installation: Installation, tools: Toolkit) -> None:
    provider = Replacing(installation)
    tools = replace(tools, providers={"instant": provider})
    actions.destroy(started(tools, CELLS[0]))
    provider.destroy(ClusterId.kept("campaign", "", 1))
    second = started(tools, CELLS[1])
    assert cluster_of(tools, second) == "hosts/2"
    assert layout.FINGERPRINT.read(tools.store, second.key).replaces == "hosts of it were gone"
