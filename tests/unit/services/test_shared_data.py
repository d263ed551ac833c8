"""A ramp whose loads share their data: on whose data each attempt runs, and when it populates fresh ones."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import InstantLoadGenerator, InstantProduct, InstantProvider, NoSampler
from tests.fakes.owners import FixedOwners
from tests.support.campaigns.running import run_missing

from plimsoll.adapters.generators.cassandra_stress import CassandraStress
from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster, ClusterRequest
from plimsoll.domain.text.errors import DeployError, PlimsollError
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.open.remarks import remarks
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempt_state import cancel, record_failure
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.shared_data import settle_origin
from plimsoll.services.hosts import kept_hosts
from plimsoll.services.judge.attempt_judging import judge
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

LOW, MIDDLE, HIGH = "v1-001k-r1", "v1-002k-r1", "v1-003k-r1"


def sharing(**changes: object) -> Definition:
    """Define one variant at three loads, on hosts that are kept for the campaign."""
    plain = instant_definition(variants=1, loads=3, parallel=1).model_dump(mode="json")
    strategy = {"name": "ramp", "data": "same"}
    return Definition.model_validate({**plain, "strategy": strategy, "cluster_scope": "campaign", **changes})


class NotingProduct(InstantProduct):
    """Notes in which environment it was deployed, and in which one it was asked for compactions by which job."""

    deployed: list[str]
    asked: list[tuple[str, str]]
    lives: timedelta

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        self.deployed.append(nodes[0].root.name)
        self.lives = expires
        super().deploy(spec, nodes, load, expires)

    def leftover_work(self, nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        self.asked.append((nodes[0].root.name, job_id))
        return super().leftover_work(nodes, job_id)


class NotingGenerator(InstantLoadGenerator):
    """Notes which loads populated."""

    populated: list[bool]

    def start(self, host: Host, request: LoadRequest) -> None:
        self.populated.append(request.populates)
        super().start(host, request)


class NotingSampler(NoSampler):
    """Notes of which environments it is to count processes as the attempt's."""

    def __init__(self) -> None:
        self.told: set[frozenset[str]] = set()

    def start(
        self,
        host: Host,
        expires: timedelta,
        environments: frozenset[str] = frozenset(),
        database: Sequence[str] = (),
    ) -> None:
        self.told.add(environments)


class Site:
    """A campaign with its tools."""

    def __init__(self, folder: Path, definition: Definition) -> None:
        self.installation, self.clock = Installation(folder), SteppingClock()
        self.installation.open_campaign(definition)
        faults = self.installation.faults
        self.product, self.generator = NotingProduct(faults), NotingGenerator(faults)
        self.product.deployed, self.product.asked, self.generator.populated = [], [], []
        self.tools: Toolkit = replace(
            self.installation.toolkit,
            clock=self.clock,
            products={"instant": self.product},
            load_generators={"instant": self.generator},
            owners=FixedOwners(alive={"me"}),
        )

    def copied(self, folder: Path) -> "Site":
        """Return the same campaign in a folder of its own, as far as it has come."""
        shutil.copytree(self.installation.folder, folder, dirs_exist_ok=True)
        copy = Site(folder, CampaignStore(self.tools.store, "campaign").declared())
        copy.clock.at = self.clock.at
        copy.product.deployed, copy.product.lives = [*self.product.deployed], self.product.lives
        copy.generator.populated = [*self.generator.populated]
        return copy

    def begun(self, cell_id: str) -> AttemptContext:
        """Return an attempt that nothing has been done of."""
        return begin(self.tools, "campaign", cell_id, "me")

    def ran(self, cell_id: str) -> AttemptContext:
        """Return an attempt that went to its verdict. Its hosts live on."""
        work = self.unjudged(cell_id)
        judge(work)
        return work

    def unjudged(self, cell_id: str) -> AttemptContext:
        """Return an attempt that has given its hosts back.

        A higher load goes on with its data only once it is judged.
        """
        work = self.begun(cell_id)
        measured(work)
        for step in (collect, actions.destroy):
            step(work)
        return work

    def data_of(self, work: AttemptContext) -> Sequence[str]:
        """Return the attempts whose loads ran on its data before."""
        fingerprint = layout.FINGERPRINT.read(self.tools.store, work.key)
        assert fingerprint is not None
        return fingerprint.data_of

    def environments(self, host: str = "*") -> set[str]:
        """Return the folders on hosts of that name."""
        return {path.name for path in self.installation.folder.glob(f"work/alive/*/{host}/*")}


def measured(work: AttemptContext) -> None:
    for step in (actions.provision, actions.deploy, loading.start_load):
        step(work)
    loading.poll_load(work)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, sharing())


@pytest.fixture(scope="module")
def lowest_load(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Provide a site whose lowest load has populated and met, run once for all tests that begin with it."""
    site = Site(tmp_path_factory.mktemp("lowest-load"), sharing())
    site.ran(LOW)
    return site


@pytest.fixture
def populated(lowest_load: Site, tmp_path: Path) -> Site:
    """Provide a copy of the site whose lowest load has populated and met."""
    return lowest_load.copied(tmp_path)


def test_the_lowest_load_of_each_repeat_populates_and_the_others_go_on(tmp_path: Path) -> None:
    site = Site(tmp_path, sharing(repeats=2))
    ran = run_missing(site.tools, "campaign", "me", print)
    assert [one.work.key.cell_id for one in ran] == [LOW, MIDDLE, HIGH, "v1-001k-r2", "v1-002k-r2", "v1-003k-r2"]
    assert [one.verdict is not None and one.verdict.met for one in ran] == [True] * 6
    assert site.product.deployed == ["v1-001k-r1-1-data", "v1-001k-r2-1-data"]
    assert site.generator.populated == [True, False, False] * 2
    assert [site.data_of(one.work) for one in ran[:3]] == [(), (f"{LOW}/1",), (f"{LOW}/1", f"{MIDDLE}/1")]
    assert site.data_of(ran[3].work) == ()
    assert site.installation.provider.journal() == ["+ campaign/hosts/1", "- campaign/hosts/1"]


def test_hosts_that_wait_for_an_action_of_another_stage_are_no_nodes_to_go_on_with(tmp_path: Path) -> None:
    ramp = {"id": "ramp", "title": "Ramp", "strategy": {"name": "ramp", "data": "same"}}
    add = {"id": "add", "title": "Add", "action": {"name": "add-node"}}
    site = Site(tmp_path, sharing(strategy={"name": "full-grid"}, stages=[ramp, add]))
    site.ran(f"ramp-{LOW}")
    assert site.data_of(site.unjudged(f"ramp-{MIDDLE}")) == (f"ramp-{LOW}/1",)
    assert len(list(site.installation.folder.glob("work/alive/*/node*"))) == 4


def test_between_two_loads_nothing_but_the_data_is_left_and_after_the_highest_nothing(populated: Site) -> None:
    assert (populated.environments("node*"), populated.environments("load")) == ({f"{LOW}-1-data"}, set())
    populated.ran(MIDDLE)
    assert populated.environments() == {f"{LOW}-1-data"}
    populated.unjudged(HIGH)
    assert populated.environments() == set()


def test_the_nodes_of_the_data_are_asked_for_compactions_by_each_load_anew(
    populated: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NotingGenerator, "settles", lambda *_: True)
    populated.product.asked = []
    populated.unjudged(MIDDLE)
    assert set(populated.product.asked) == {(f"{LOW}-1-data", f"settle-{MIDDLE}-1")}


def test_the_sampler_knows_the_environment_of_the_load_and_that_of_the_data(populated: Site) -> None:
    sampler = NotingSampler()
    work = begin(replace(populated.tools, sampler=sampler), "campaign", MIDDLE, "me")
    actions.provision(work)
    actions.deploy(work)
    assert sampler.told == {frozenset({f"{MIDDLE}-1", f"{LOW}-1-data"})}


def test_the_database_outlives_all_loads_of_its_repeat(populated: Site) -> None:
    one_load = sharing().timing.duration + timedelta(hours=1)
    assert 2 * one_load < populated.product.lives <= 3 * one_load


@pytest.mark.parametrize(("cell_id", "further_loads"), [(LOW, 2), (MIDDLE, 1), (HIGH, 0)])
def test_hosts_that_cost_nothing_are_asked_for_as_long_as_the_data_are_kept(
    site: Site, monkeypatch: pytest.MonkeyPatch, cell_id: str, further_loads: int
) -> None:
    requests, ensure = list[ClusterRequest](), InstantProvider.ensure

    def noted(provider: InstantProvider, request: ClusterRequest) -> Cluster:
        requests.append(request)
        return ensure(provider, request)

    monkeypatch.setattr(InstantProvider, "ensure", noted)
    work = site.begun(cell_id)
    actions.provision(work)
    [request] = requests
    assert work.origin is not None
    assert request.expires_at + request.kept_beyond == work.origin.until
    assert request.kept_beyond == further_loads * (sharing().timing.duration + timedelta(hours=1))


POPULATING = timedelta(hours=24)


def test_hosts_live_for_one_cell_at_a_time_and_the_database_for_populating_once(tmp_path: Path) -> None:
    timing = {"duration": "30m", "warmup": "0s", "populating": "24h"}
    site = Site(tmp_path, sharing(timing=timing))
    one_load, own = timedelta(minutes=90), POPULATING + timedelta(minutes=90)
    lowest = site.begun(LOW)
    cluster = actions.provision(lowest)
    actions.deploy(lowest)
    assert cluster.expires_at - lowest.attempt().started_at == own
    assert own + one_load < site.product.lives <= own + 2 * one_load


@pytest.mark.parametrize("hours", [3, 20])
def test_data_that_took_long_to_populate_serve_all_loads(tmp_path: Path, hours: int) -> None:
    site = Site(tmp_path, sharing(timing={"duration": "30m", "warmup": "0s", "populating": "24h"}))
    for cell, took in ((LOW, timedelta(hours=hours)), (MIDDLE, timedelta(minutes=30))):
        work = site.begun(cell)
        measured(work)
        site.clock.at += took
        collect(work)
        actions.destroy(work)
        judge(work)
    site.unjudged(HIGH)
    assert site.generator.populated == [True, False, False]


def test_the_plan_counts_populating_once_for_each_repeat() -> None:
    timing = {"duration": "30m", "warmup": "0s", "populating": "24h"}
    shared = make_plan(resolve(sharing(timing=timing, repeats=2)))
    fresh = make_plan(resolve(sharing(timing=timing, repeats=2, strategy={"name": "ramp"})))
    assert [one.stages[0].paid_hours("most") for one in (shared, fresh)] == [6 * 0.5 + 2 * 24, 6 * 0.5 + 6 * 24]


def test_where_the_database_ends_before_the_next_load_could_be_over_that_populates_its_own(populated: Site) -> None:
    populated.clock.at += timedelta(hours=2, minutes=30)
    assert populated.data_of(populated.unjudged(MIDDLE)) == ()
    assert populated.environments() == {f"{MIDDLE}-1-data"}


def attempted(site: Site, cell_id: str) -> AttemptContext:
    """Return an attempt whose failure, if it has one, is kept and judged."""
    work = site.begun(cell_id)
    try:
        measured(work)
        loading.require_complete(work, loading.poll_load(work))
    except PlimsollError as error:
        record_failure(work, str(error))
    for step in (collect, actions.destroy, judge):
        step(work)
    return work


@pytest.mark.parametrize(("phase", "outcome"), [("load", "invalid"), ("slow", "missed")])
def test_after_a_load_that_was_not_met_data_are_fresh_and_higher_loads_go_on_with_these(
    populated: Site, phase: str, outcome: str
) -> None:
    populated.installation.faults.plant(MIDDLE, phase)
    failed = attempted(populated, MIDDLE)
    verdict = layout.VERDICT.read(populated.tools.store, failed.key)
    assert (verdict and verdict.outcome, populated.data_of(failed)) == (outcome, (f"{LOW}/1",))
    populated.installation.faults.heal(MIDDLE)
    assert populated.data_of(populated.ran(MIDDLE)) == ()
    assert populated.data_of(populated.unjudged(HIGH)) == (f"{MIDDLE}/2",)
    assert populated.product.deployed == [f"{LOW}-1-data", f"{MIDDLE}-2-data"]


def test_no_data_are_left_by_an_attempt_that_failed(site: Site) -> None:
    site.installation.faults.plant(LOW, "load")
    attempted(site, LOW)
    assert site.environments() == set()


def test_where_a_node_died_between_two_loads_the_next_one_populates(populated: Site) -> None:
    for log in populated.installation.folder.glob(f"work/alive/*/node2/{LOW}-1-data/logs/system.log"):
        log.unlink()
    assert populated.data_of(populated.unjudged(MIDDLE)) == ()
    assert populated.environments() == {f"{MIDDLE}-1-data"}


def test_where_a_node_dies_before_its_load_the_cell_fails_and_runs_again_with_fresh_data(populated: Site) -> None:
    work = populated.begun(MIDDLE)
    actions.provision(work)
    populated.installation.faults.plant(LOW, "down")
    with pytest.raises(DeployError, match="the data to go on with are lost"):
        actions.deploy(work)
    record_failure(work, "deploy")
    collect(work)
    actions.destroy(work)
    assert populated.environments() == set()
    populated.installation.faults.heal(LOW)
    assert populated.data_of(populated.unjudged(MIDDLE)) == ()


def test_another_repeat_in_between_takes_the_data_away(tmp_path: Path) -> None:
    site = Site(tmp_path, sharing(repeats=2))
    site.ran(LOW)
    site.ran("v1-001k-r2")
    assert site.environments() == {"v1-001k-r2-1-data"}
    assert site.data_of(site.unjudged(MIDDLE)) == ()


def test_a_load_at_or_below_the_last_one_never_goes_on(site: Site) -> None:
    site.ran(MIDDLE)
    assert site.data_of(site.ran(LOW)) == ()
    assert site.data_of(site.ran(LOW)) == ()
    assert site.data_of(site.unjudged(HIGH)) == (f"{LOW}/2",)


def test_a_cancelled_attempt_takes_the_data_with_it(populated: Site) -> None:
    work = populated.begun(MIDDLE)
    measured(work)
    cancel(work, "somebody")
    actions.destroy(work)
    assert populated.installation.provider.journal() == ["+ campaign/hosts/1", "- campaign/hosts/1"]
    assert populated.data_of(populated.unjudged(MIDDLE)) == ()


def test_where_a_host_was_replaced_no_data_are_whole(populated: Site) -> None:
    work = populated.begun(MIDDLE)
    cluster = actions.provision(work)
    assert work.goes_on
    assert settle_origin(work, cluster, is_changed=True).earlier == ()
    assert not work.goes_on
    assert work.data_environment == f"{MIDDLE}-1-data"


class Killed(BaseException):
    """The process is no more: nothing is cleaned up behind it."""


def kill(*_: object, **__: object) -> None:
    raise Killed


Patch = Callable[[pytest.MonkeyPatch], None]
STRIKES: dict[str, Patch] = {
    "before its origin is decided": lambda patch: patch.setattr(actions, "settle_origin", kill),
    "before others' remains are removed": lambda patch: patch.setattr(InstantProvider, "clear", kill),
    "before the nodes are looked at": lambda patch: patch.setattr(actions, "require_running", kill),
    "before the load starts": lambda patch: patch.setattr(loading, "start_all", kill),
    "before the hosts are given back": lambda patch: patch.setattr(kept_hosts, "end_assignment", kill),
}


def all_steps(work: AttemptContext) -> None:
    measured(work)
    collect(work)
    actions.destroy(work)


@pytest.mark.parametrize("when", STRIKES)
def test_killed_in_a_step_the_same_attempt_goes_on_with_the_same_data(populated: Site, when: str) -> None:
    work = populated.begun(MIDDLE)
    with pytest.MonkeyPatch.context() as patch:
        STRIKES[when](patch)
        with pytest.raises(Killed):
            all_steps(work)
    all_steps(work)
    judge(work)
    assert populated.data_of(work) == (f"{LOW}/1",)
    assert populated.data_of(populated.unjudged(HIGH)) == (f"{LOW}/1", f"{MIDDLE}/1")
    assert populated.product.deployed == [f"{LOW}-1-data"]


@pytest.mark.parametrize("when", STRIKES)
def test_killed_in_a_step_the_next_attempt_at_the_cell_populates(populated: Site, when: str) -> None:
    dead = populated.begun(MIDDLE)
    with pytest.MonkeyPatch.context() as patch:
        STRIKES[when](patch)
        with pytest.raises(Killed):
            all_steps(dead)
    again = populated.unjudged(MIDDLE)
    assert populated.data_of(again) == ()
    assert populated.environments() == {f"{MIDDLE}-2-data"}


@pytest.mark.parametrize(("scope", "faults"), [("cell", ["strategy.data"]), ("variant", []), ("campaign", [])])
def test_data_are_shared_only_on_hosts_that_are_kept(tmp_path: Path, scope: str, faults: list[str]) -> None:
    found = problems(Site(tmp_path, sharing()).tools, sharing(cluster_scope=scope))
    assert [one.where for one in found] == faults


def test_a_generator_that_must_populate_is_refused(tmp_path: Path) -> None:
    site = Site(tmp_path, sharing())
    site.generator.can_go_on = False
    [found] = problems(site.tools, sharing())
    assert "can't run on rows that an earlier load has left" in str(found)
    assert not CassandraStress.can_go_on


def test_the_plan_says_that_loads_share_their_data(site: Site) -> None:
    plan = make_plan(resolve(sharing(repeats=2)))
    assert [cell.id for cell in plan.cells][:3] == [LOW, MIDDLE, HIGH]
    assert [cell.id for cell in plan.first] == [LOW]
    assert (plan.at_once, plan.estimate.likely_turns(1)) == (1, plan.estimate.likely)
    assert any("share their data" in remark for remark in remarks(site.tools, plan))
