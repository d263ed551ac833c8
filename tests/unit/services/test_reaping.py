"""The reaper's pass over several clusters."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT

from plimsoll.domain.cluster import ClusterId
from plimsoll.domain.errors import ProviderError
from plimsoll.ports.provider import Places, Provider
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.reaping import destroy_owned, reap
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


def test_what_nobody_expects_of_one_cluster_comes_up_once_it_is_known(installation: Installation) -> None:
    class Broken(EachWaitsForTheLast):
        def destroy(self, cluster_id: ClusterId) -> None:
            raise RuntimeError("broken")

    provider: Any = Broken(installation.toolkit.providers[INSTANT])
    with pytest.raises(RuntimeError, match="broken"):
        reap(replace(installation.toolkit, providers={INSTANT: provider}), lambda _: False)
