"""Hosts that are kept from cell to cell: who uses them, what is left on them, and what ends or replaces them."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import Faults, InstantProvider
from tests.fakes.owners import FixedOwners
from tests.support.campaigns.running import run_missing
from tests.unit.services.kept_definition import CELLS, kept

from plimsoll.domain.canary import HostFigures
from plimsoll.domain.cluster import Cluster, ClusterId, ClusterRequest, HostInfo
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import HostsLost, ProviderError, Refused
from plimsoll.domain.strategy import Ramp, Search, Strategy
from plimsoll.ports.host import Host
from plimsoll.services.campaign.completeness import completeness
from plimsoll.services.campaign.runnable import problems
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.recording import cancel
from plimsoll.services.cell.running import run_cells
from plimsoll.services.hosts import kept_hosts, replacing
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, read_cluster, read_fingerprint
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.matrix import running_order


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    made.open_campaign(kept("campaign"))
    return made


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def tools(installation: Installation, clock: SteppingClock) -> Toolkit:
    return replace(installation.toolkit, clock=clock, owners=FixedOwners(alive={"me", "other"}))


def started(tools: Toolkit, cell_id: str, owner: str = "me") -> AttemptContext:
    work = begin(tools, "campaign", cell_id, owner)
    actions.provision(work)
    actions.deploy(work)
    loading.start_load(work)
    return work


def cluster_of(tools: Toolkit, work: AttemptContext) -> str:
    fingerprint = read_fingerprint(tools.store, work.key)
    assert fingerprint is not None
    return fingerprint.cluster


def test_cells_of_a_campaign_share_one_cluster_which_ends_with_the_run(
    installation: Installation, tools: Toolkit
) -> None:
    ran = run_cells(tools, "campaign", CELLS, "me", print)
    assert [one.verdict is not None and one.verdict.valid for one in ran] == [True] * 3
    assert [cluster_of(tools, one.work) for one in ran] == ["hosts/1"] * 3
    assert installation.provider.journal() == ["+ campaign/hosts/1", "- campaign/hosts/1"]


def test_each_variant_has_a_cluster_of_its_own_one_after_the_other(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    definition = kept("variant")
    installation.open_campaign(definition)
    order = [cell.id for cell in running_order(definition)]
    assert [cell.partition("-")[0] for cell in order] == ["v1", "v1", "v2", "v2"]
    run_cells(installation.toolkit, "campaign", order, "me", print)
    hosts = ["campaign/v1-hosts/1", "campaign/v2-hosts/1"]
    assert installation.provider.journal() == [f"{sign} {one}" for one in hosts for sign in "+-"]


@pytest.mark.parametrize("strategy", [Search(), Ramp()])
def test_a_strategy_comes_to_a_variants_end_on_its_hosts_before_it_begins_the_next_one(
    tmp_path: Path, strategy: Strategy
) -> None:
    installation = Installation(tmp_path)
    campaign = installation.open_campaign(kept("variant").model_copy(update={"strategy": strategy}))
    ran = run_missing(installation.toolkit, "campaign", "me", print)
    assert [one.work.key.cell_id[:2] for one in ran] == ["v1", "v1", "v2", "v2"]
    assert completeness(campaign).is_complete
    hosts = ["campaign/v1-hosts/1", "campaign/v2-hosts/1"]
    assert installation.provider.journal() == [f"{sign} {one}" for one in hosts for sign in "+-"]


def test_nothing_of_one_attempt_is_left_for_the_next(installation: Installation, tools: Toolkit) -> None:
    first = started(tools, CELLS[0])
    assert list(installation.folder.glob(f"work/alive/*/load/{CELLS[0]}-1"))
    collect(first)
    actions.destroy(first)
    assert not list(installation.folder.glob(f"work/alive/*/*/{CELLS[0]}-1"))
    second = started(tools, CELLS[1])
    cluster = tools.providers["instant"].find(second.cluster_id)
    assert cluster is not None
    host = second.host(cluster, cluster.load_host)
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
    assert len(list(tools.store.keys(layout.uses_prefix("campaign", "hosts")))) == 2
    assert installation.provider.journal() == ["+ campaign/hosts/1"]


def test_a_late_second_try_to_free_hosts_does_not_harm_who_has_them_now(
    installation: Installation, tools: Toolkit
) -> None:
    first = started(tools, CELLS[0])
    actions.destroy(first)
    started(tools, CELLS[1])
    actions.destroy(first)
    assert list(installation.folder.glob(f"work/alive/*/load/{CELLS[1]}-1/load.json"))


def test_expiry_and_owner_move_on_with_each_attempt(tools: Toolkit, clock: SteppingClock) -> None:
    first = started(tools, CELLS[0], "me")
    before = tools.providers["instant"].find(first.cluster_id)
    actions.destroy(first)
    clock.at += timedelta(minutes=30)
    second = started(tools, CELLS[1], "other")
    after = tools.providers["instant"].find(second.cluster_id)
    assert (before.id, before.created_at) == (after.id, after.created_at)
    assert after.expires_at - before.expires_at == timedelta(minutes=30)
    assert (before.owner, after.owner) == ("me", "other")


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
    assert [read_fingerprint(tools.store, work.key).replaces for work in later] == ["hosts of it were gone"] * 2


def test_a_host_that_fails_its_preflight_is_replaced_within_the_cell(tmp_path: Path) -> None:
    definition = kept("campaign", canary={"node": {"disk_write": "100M"}})
    made = Installation(tmp_path)
    made.open_campaign(definition)
    figures = Figures([200, 10, 200])
    tools = replace(made.toolkit, canary=figures)
    first, second = run_cells(tools, "campaign", CELLS[:2], "me", print)
    assert (first.verdict.valid, second.verdict.valid) == (True, True)
    assert [cluster_of(tools, one.work) for one in (first, second)] == ["hosts/1", "hosts/2"]
    assert "writes 10M/s to its disk" in read_fingerprint(tools.store, second.work.key).replaces
    assert made.provider.journal()[:3] == ["+ campaign/hosts/1", "- campaign/hosts/1", "+ campaign/hosts/2"]


def test_hosts_that_were_never_fit_end_the_attempt(tmp_path: Path) -> None:
    made = Installation(tmp_path)
    made.open_campaign(kept("campaign", canary={"node": {"disk_write": "100M"}}))
    [ran] = run_cells(replace(made.toolkit, canary=Figures([10])), "campaign", CELLS[:1], "me", print)
    assert not ran.verdict.valid
    assert "the floor is 100M/s" in ran.verdict.reasons[0]


class Figures:
    """A preflight that finds these figures, MiB/s, one after the other."""

    def __init__(self, found: list[float]) -> None:
        self._found = iter(found)

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        figure = next(self._found) * 2**20
        names = ("cpu_bytes_s", "disk_write_bytes_s", "disk_read_bytes_s", "network_bytes_s")
        return [HostFigures(host=host.info.name, **dict.fromkeys(names, figure)) for host in hosts]


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
    assert "process 7 (java) runs" in read_fingerprint(tools.store, second.key).replaces


def test_a_cancelled_attempt_takes_its_hosts_with_it(installation: Installation, tools: Toolkit) -> None:
    work = started(tools, CELLS[0])
    cancel(work, "somebody")
    actions.destroy(work)
    assert installation.provider.clusters() == []
    assert actions.provision(begin(tools, "campaign", CELLS[1], "me")).id.name == "hosts/2"


def test_a_run_that_is_refused_half_way_keeps_no_hosts(installation: Installation, tools: Toolkit) -> None:
    def cells() -> Iterator[str]:
        yield CELLS[0]
        raise Refused([])

    with pytest.raises(Refused):
        run_cells(tools, "campaign", cells(), "me", print)
    assert installation.provider.clusters() == []


def test_a_provider_that_keeps_no_hosts_is_refused_before_anything_starts(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(tools.providers["instant"]), "keeps_hosts", False)
    [found] = problems(tools, kept("campaign"))
    assert (found.where, "not supported by provider instant" in found.what) == ("cluster_scope", True)
    assert problems(tools, instant_definition()) == ()


def test_definitions_of_before_have_a_cluster_for_each_cell() -> None:
    plain = json.loads(instant_definition().model_dump_json())
    plain.pop("cluster_scope")
    assert Definition.model_validate(plain).cluster_scope == "cell"


def test_cells_that_share_hosts_do_not_run_at_once() -> None:
    with pytest.raises(ValueError, match="cells that share hosts run one after the other"):
        kept("campaign", max_parallel=2)


def test_the_stored_campaign_says_which_attempt_had_which_hosts(installation: Installation, tools: Toolkit) -> None:
    work = started(tools, CELLS[0])
    campaign = CampaignStore(tools.store, "campaign")
    assert campaign.definition().cluster_scope == "campaign"
    assert work.cluster_id == ClusterId.kept("campaign", "", 1)
    assert tools.store.exists(layout.use_key("campaign", "hosts", 1))


class Replacing(InstantProvider):
    """Gives a kept cluster others in the place of hosts that are lost, or unfit."""

    replaces_hosts = True

    def __init__(self, installation: Installation) -> None:
        super().__init__(installation.folder / "work", Faults(installation.folder / "work" / "faults"))
        self.lost: set[str] = set()

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        found = super().find(cluster_id)
        return None if found and self.lost & {info.identity for info in found.hosts} else found

    def ensure(self, request: ClusterRequest) -> Cluster:
        found = super().find(request.id)
        if found is not None:
            assert request.was_whole
            self._describe(found.model_copy(update={"hosts": tuple(self._other(one, request) for one in found.hosts)}))
        return super().ensure(request)

    def _other(self, info: HostInfo, request: ClusterRequest) -> HostInfo:
        if info.identity not in self.lost | request.unfit:
            return info
        return info.model_copy(update={"address": info.address.replace("127.9.9.", "127.9.10.")})


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
    told = [read_fingerprint(tools.store, work.key).replaces for work in later]
    assert told == ["127.9.9.2 died and was replaced by 127.9.10.2"] * 2
    assert provider.journal() == ["+ campaign/hosts/1"]


def environments(installation: Installation) -> set[str]:
    """What any host has a folder of."""
    return {path.name for path in installation.folder.glob("work/alive/*/*/*")}


def test_hosts_of_which_nothing_is_left_are_not_made_whole(installation: Installation, tools: Toolkit) -> None:
    provider = Replacing(installation)
    tools = replace(tools, providers={"instant": provider})
    actions.destroy(started(tools, CELLS[0]))
    provider.destroy(ClusterId.kept("campaign", "", 1))
    second = started(tools, CELLS[1])
    assert cluster_of(tools, second) == "hosts/2"
    assert read_fingerprint(tools.store, second.key).replaces == "hosts of it were gone"


class Fixed(InstantProvider):
    """Clusters of hosts that are always there: where one does not answer, its cluster can't be used nor ended."""

    replaces_hosts = True

    def __init__(self, installation: Installation) -> None:
        super().__init__(installation.folder / "work", Faults(installation.folder / "work" / "faults"))
        self.silent: set[str] = set()

    def ensure(self, request: ClusterRequest) -> Cluster:
        self._require(request.id)
        return super().ensure(request)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        self._require(cluster.id)
        super().clear(cluster, keep)

    def destroy(self, cluster_id: ClusterId) -> None:
        self._require(cluster_id)
        super().destroy(cluster_id)

    def _require(self, cluster_id: ClusterId) -> None:
        if cluster_id.name in self.silent:
            raise HostsLost("node2 can't be reached", where=str(cluster_id))


def test_where_hosts_do_not_answer_others_are_used_and_they_are_ended_once_they_do(
    installation: Installation, tools: Toolkit
) -> None:
    provider = Fixed(installation)
    tools = replace(tools, providers={"instant": provider})
    actions.destroy(started(tools, CELLS[0]))
    provider.silent = {"hosts/1"}
    second = started(tools, CELLS[1])
    assert cluster_of(tools, second) == "hosts/2"
    assert "node2 can't be reached" in read_fingerprint(tools.store, second.key).replaces
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
    provider = Fixed(installation)
    tools = replace(tools, providers={"instant": provider})
    actions.destroy(started(tools, CELLS[0]))
    provider.silent = {"hosts/1"}
    actions.destroy(started(tools, CELLS[1]))

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
    provider = Fixed(installation)
    tools = replace(tools, providers={"instant": provider})
    actions.destroy(started(tools, CELLS[0]))
    provider.silent = {"hosts/1"}
    actions.destroy(started(tools, CELLS[1]))
    with pytest.raises(ProviderError, match=r"hosts could not be freed: .*node2 can't be reached"):
        kept_hosts.end_kept(tools, "campaign")
    assert [one.id.name for one in provider.clusters()] == ["hosts/1"]


def test_hosts_that_ended_themselves_are_no_trouble_of_later_runs(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    provider = Fixed(installation)
    tools = replace(tools, providers={"instant": provider})
    actions.destroy(started(tools, CELLS[0]))
    provider.silent = {"hosts/1"}
    actions.destroy(started(tools, CELLS[1]))
    clock.at += timedelta(hours=5)
    kept_hosts.end_kept(tools, "campaign")


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


def test_a_host_that_fails_its_preflight_is_replaced_alone_within_the_cell(tmp_path: Path) -> None:
    made = Installation(tmp_path)
    made.open_campaign(kept("campaign", canary={"node": {"disk_write": "100M"}}))
    provider, figures = Replacing(made), Worn("127.9.9.3")
    tools = replace(made.toolkit, canary=figures, providers={"instant": provider})
    ran = run_cells(tools, "campaign", CELLS, "me", print)
    assert [one.verdict.valid for one in ran] == [True] * 3
    told = [read_fingerprint(tools.store, one.work.key).replaces for one in ran]
    why = "127.9.9.3 was replaced by 127.9.10.3 (node3 (127.9.9.3) writes 10M/s to its disk, the floor is 100M/s)"
    assert told == ["", why, why]
    assert provider.journal() == ["+ campaign/hosts/1", "- campaign/hosts/1"]
    assert figures.asked == 4


def test_killed_before_an_unfit_host_was_replaced_the_next_try_does_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Installation(tmp_path)
    made.open_campaign(kept("campaign", canary={"node": {"disk_write": "100M"}}))
    provider, figures = Replacing(made), Worn("127.9.9.3")
    tools = replace(made.toolkit, canary=figures, providers={"instant": provider}, owners=FixedOwners(alive={"me"}))
    work = killed_in_deploy(tools, monkeypatch, actions, "provision")
    actions.provision(work)
    actions.deploy(work)
    assert "127.9.9.3 was replaced by 127.9.10.3 (node3" in read_fingerprint(tools.store, work.key).replaces
    assert figures.asked == 3


@pytest.mark.parametrize("moment", ["ensure", "note_provided", "clear"])
def test_killed_while_it_replaces_an_unfit_host_the_second_try_of_deploy_goes_on_with_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    made = Installation(tmp_path)
    made.open_campaign(kept("campaign", canary={"node": {"disk_write": "100M"}}))
    provider, figures = Replacing(made), Worn("127.9.9.3")
    tools = replace(made.toolkit, canary=figures, providers={"instant": provider}, owners=FixedOwners(alive={"me"}))
    work = killed_in_deploy(tools, monkeypatch, replacing if moment == "note_provided" else provider, moment)
    again = AttemptContext(tools, work.key)
    actions.deploy(again)
    assert "127.9.9.3 was replaced by 127.9.10.3 (node3" in read_fingerprint(tools.store, work.key).replaces
    assert read_cluster(tools.store, work.key) == again.cluster()
    assert figures.asked == 3


@pytest.mark.parametrize("moment", ["destroy", "ensure", "clear"])
def test_killed_while_it_replaces_unfit_hosts_the_second_try_of_deploy_goes_on_with_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    made = Installation(tmp_path)
    made.open_campaign(kept("campaign", canary={"node": {"disk_write": "100M"}}))
    tools = replace(made.toolkit, canary=Figures([200, 10, 200]), owners=FixedOwners(alive={"me"}))
    work = killed_in_deploy(tools, monkeypatch, tools.providers["instant"], moment)
    again = AttemptContext(tools, work.key)
    actions.deploy(again)
    assert cluster_of(tools, again) == "hosts/2"
    assert "writes 10M/s to its disk" in read_fingerprint(tools.store, work.key).replaces
    assert read_cluster(tools.store, work.key) == again.cluster()
    assert made.provider.journal() == ["+ campaign/hosts/1", "- campaign/hosts/1", "+ campaign/hosts/2"]


def killed_in_deploy(tools: Toolkit, monkeypatch: pytest.MonkeyPatch, where: object, name: str) -> AttemptContext:
    """The attempt at the second cell, killed while it deploys, where it calls that function."""
    actions.destroy(started(tools, CELLS[0]))
    work = begin(tools, "campaign", CELLS[1], "me")
    actions.provision(work)
    with monkeypatch.context() as patched:
        patched.setattr(where, name, kill)
        with pytest.raises(KeyboardInterrupt):
            actions.deploy(work)
    return work


def kill(*_: object, **__: object) -> NoReturn:
    raise KeyboardInterrupt


class Worn:
    """A preflight that finds the disk of one host slow, from the second time on that hosts are examined."""

    def __init__(self, address: str) -> None:
        self.asked, self._address = 0, address

    def examine(self, hosts: Sequence[Host]) -> Sequence[HostFigures]:
        self.asked += 1
        names = ("cpu_bytes_s", "disk_write_bytes_s", "disk_read_bytes_s", "network_bytes_s")
        slow = [self.asked > 1 and host.info.address == self._address for host in hosts]
        figures = [(10 if worn else 200) * 2**20 for worn in slow]
        found = zip(hosts, figures, strict=True)
        return [HostFigures(host=host.info.name, **dict.fromkeys(names, figure)) for host, figure in found]
