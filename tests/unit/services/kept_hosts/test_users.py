"""Which attempt uses kept hosts, what it leaves on them, and what an attempt may not do that has them no more."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.owners import FixedOwners
from tests.unit.services.kept_definition import CELLS
from tests.unit.services.kept_hosts.hosts import environments, started

from plimsoll.domain.hosts.cluster import Cluster, ClusterRequest
from plimsoll.domain.text.errors import ProviderError, Refused
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.kept_records import ASSIGNMENT
from plimsoll.services.toolkit import Toolkit


def test_nothing_of_one_attempt_is_left_for_the_next(installation: Installation, tools: Toolkit) -> None:
    first = started(tools, CELLS[0])
    assert list(installation.folder.glob(f"work/alive/*/load/{CELLS[0]}-1"))
    collect(first)
    actions.destroy(first)
    assert not list(installation.folder.glob(f"work/alive/*/*/{CELLS[0]}-1"))
    second = started(tools, CELLS[1])
    cluster = tools.providers["instant"].find(second.cluster_id)
    assert cluster is not None
    [host] = second.hosts(cluster, cluster.load_hosts)
    assert host.root.name == f"{CELLS[1]}-1"
    assert loading.load_job(first.key) != loading.load_job(second.key)


def test_what_a_killed_attempt_left_goes_before_the_next_one_begins(installation: Installation, tools: Toolkit) -> None:
    started(tools, CELLS[0], "dead")
    started(replace(tools, owners=FixedOwners(alive={"me"})), CELLS[1])
    assert not list(installation.folder.glob(f"work/alive/*/*/{CELLS[0]}-1"))
    assert installation.provider.journal() == ["+ campaign/hosts/1"]


def test_hosts_that_another_attempt_uses_are_refused_with_its_name(installation: Installation, tools: Toolkit) -> None:
    started(tools, CELLS[0], "other")
    with pytest.raises(Refused, match=f"in use by attempt campaign/{CELLS[0]}/1 of other"):
        actions.provision(begin(tools, "campaign", CELLS[1], "me"))
    assert list(installation.folder.glob(f"work/alive/*/*/{CELLS[0]}-1"))


@pytest.mark.parametrize("step", [actions.deploy, loading.start_load])
def test_an_attempt_that_lost_its_hosts_to_another_goes_on_with_none_of_them(
    installation: Installation, tools: Toolkit, step: Callable[[AttemptContext], object]
) -> None:
    """Such as of a computer that slept, so that its campaign was taken over."""
    lost = begin(tools, "campaign", CELLS[0], "other")
    actions.provision(lost)
    started(replace(tools, owners=FixedOwners(alive={"me"})), CELLS[1])
    with pytest.raises(ProviderError, match=f"its hosts were given to attempt campaign/{CELLS[1]}/1 of me"):
        step(lost)
    assert environments(installation) == {f"{CELLS[1]}-1"}
    collect(lost)
    actions.destroy(lost)
    assert list(installation.folder.glob(f"work/alive/*/load/{CELLS[1]}-1/load.json"))


def test_an_attempt_that_lost_its_hosts_while_they_were_provided_clears_nothing(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = tools.providers["instant"]
    ensure, lost = provider.ensure, begin(tools, "campaign", CELLS[0], "other")

    def sleep_meanwhile(request: ClusterRequest) -> Cluster:
        monkeypatch.setattr(provider, "ensure", ensure)
        started(replace(tools, owners=FixedOwners(alive={"me"})), CELLS[1])
        return ensure(request)

    monkeypatch.setattr(provider, "ensure", sleep_meanwhile)
    with pytest.raises(ProviderError, match="its hosts were given to attempt"):
        actions.provision(lost)
    assert list(installation.folder.glob(f"work/alive/*/load/{CELLS[1]}-1/load.json"))


def test_an_attempt_that_gave_its_hosts_back_deploys_nothing_there(installation: Installation, tools: Toolkit) -> None:
    work = started(tools, CELLS[0])
    actions.destroy(work)
    with pytest.raises(ProviderError, match="it has given back its hosts"):
        actions.deploy(work)
    assert environments(installation) == set()


def test_of_an_owner_whom_nobody_knows_the_hosts_are_free_when_its_time_is_over(
    tools: Toolkit, clock: SteppingClock
) -> None:
    unknown = replace(tools, owners=FixedOwners(alive={"me"}, unknown={"elsewhere"}))
    started(unknown, CELLS[0], "elsewhere")
    with pytest.raises(Refused):
        actions.provision(begin(unknown, "campaign", CELLS[1], "me"))
    clock.at += timedelta(hours=2)
    actions.provision(begin(unknown, "campaign", CELLS[1], "me"))


def test_a_second_try_of_a_killed_phase_goes_on_with_the_same_hosts(installation: Installation, tools: Toolkit) -> None:
    work = begin(tools, "campaign", CELLS[0], "me")
    for phase in (actions.provision, actions.deploy, loading.start_load):
        phase(work)
        phase(AttemptContext(tools, work.key))
    assert list(installation.folder.glob(f"work/alive/*/load/{CELLS[0]}-1/load.json"))
    for _ in range(2):
        actions.destroy(work)
    assert len(list(tools.store.keys(ASSIGNMENT.folder("campaign", "hosts")))) == 2
    assert installation.provider.journal() == ["+ campaign/hosts/1"]


def test_a_late_second_try_to_free_hosts_does_not_harm_who_has_them_now(
    installation: Installation, tools: Toolkit
) -> None:
    first = started(tools, CELLS[0])
    actions.destroy(first)
    started(tools, CELLS[1])
    actions.destroy(first)
    assert list(installation.folder.glob(f"work/alive/*/load/{CELLS[1]}-1/load.json"))
