"""Hosts of one's own that are kept while software is swapped on them: over a real sshd and of this machine, with real
processes. A campaign reaches its report, and is killed in each step."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import Faults, InstantLoadGenerator, InstantProduct
from tests.fakes.owners import FixedOwners
from tests.integration.reliability.cell_steps import all_steps
from tests.support.campaigns.undrawn import undrawn
from tests.support.processes import end_marked, marked
from tests.support.ssh.sshd import CONNECTION, OneKey, Sshd, make_key, running_sshd
from tests.support.stores.places import patch_place
from tests.support.suite.requirements import long

from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.adapters.providers.ssh import Connections, SshProvider
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.definition.definition import Definition
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host, Job
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.ports.provider import Provider
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempt_state import cancel
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.load_hosts import look
from plimsoll.services.hosts import kept_hosts, kept_records
from plimsoll.services.hosts.places import StoredPlaces
from plimsoll.services.hosts.reaping import living_clusters, reap
from plimsoll.services.judge import attempt_judging
from plimsoll.services.publish.publishing import pass_gate, publish_report
from plimsoll.services.retries import Outage
from plimsoll.services.steps.running import run_cells
from plimsoll.services.store import layout
from plimsoll.services.store.layout import report_key
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.matrix import running_order

HOUR = timedelta(hours=1)


class SleepingProduct(InstantProduct):
    """A process on each node. Notes what runs on the hosts when a database is deployed."""

    def __init__(self, faults: Faults, work: Path) -> None:
        super().__init__(faults)
        self.work, self.found = work, list[int]()

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Deploy after a look at what others have left."""
        self.found.append(len(marked("PLIMSOLL_WORK", str(self.work))))
        super().deploy(spec, nodes, load, expires)
        for node in nodes:
            node.start(Job("database", ("sleep", "600"), HOUR))


class SleepingLoadGenerator(InstantLoadGenerator):
    """A load is a process on its host for `lasts_s`, if these are any."""

    lasts_s = 0

    def start(self, host: Host, request: LoadRequest) -> None:
        """Start the load with its process."""
        super().start(host, request)
        if self.lasts_s:
            host.start(Job(request.job_id, ("sleep", str(self.lasts_s)), HOUR))

    def status(self, host: Host, job_id: str) -> LoadStatus:
        """Call the load running as long as its process lives."""
        if host.status(job_id).state == "running":
            return LoadStatus("running", "load", errors=0)
        return super().status(host, job_id)


@dataclass
class Site:
    """Two variants, a cell each, on three nodes and a load host, which all are this machine."""

    tools: Toolkit
    definition: Definition
    work: Path
    """Where clusters live."""
    product: SleepingProduct
    load: SleepingLoadGenerator

    @property
    def provider(self) -> type:
        """Return the class that provides the campaign's hosts."""
        return type(self.tools.provider(resolve(self.definition)))

    def nothing_is_left(self) -> bool:
        """Return no process, no file, no lease."""
        files = [path for path in self.work.rglob("*") if path.is_file()]
        lease = self.work.parent / "lease.json"
        return not (marked("PLIMSOLL_WORK", str(self.work)) or files or lease.exists())


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sshd, Connections]]:
    """Provide one server for all tests, and a connection to it."""
    folder = tmp_path_factory.mktemp("sshd")
    key = make_key(folder / "keys", "user")
    with running_sshd(folder / "server", [key.public]) as server:
        connections = Connections(OneKey(key.private))
        yield server, connections
        connections.close()


@pytest.fixture(params=[pytest.param("ssh", marks=long("one campaign on them runs over SSH")), "local"])
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    made, work = Installation(tmp_path), tmp_path / "rack1" / "clusters"
    clock, faults = made.toolkit.clock, Faults(tmp_path / "faults")
    product, load = SleepingProduct(faults, work), SleepingLoadGenerator(faults)
    plain: dict[str, Any] = instant_definition(variants=2, loads=1, parallel=1).model_dump(mode="json")
    if request.param == "ssh":
        provider, options = over_ssh(tmp_path / "rack1", clock, *request.getfixturevalue("sshd"))
    else:
        provider, options = LocalProvider(work, clock, claims=work.parent / "claims"), {}
    chosen = {"provider": {"name": provider.name, "options": options}, "cluster_scope": "campaign"}
    definition = Definition.model_validate({**plain, **chosen})
    tools = replace(
        made.toolkit,
        providers={provider.name: provider},
        products={"instant": product},
        load_generators={"instant": load},
        owners=FixedOwners(alive={"me"}),
    )
    made.open_campaign(definition)
    yield Site(tools, definition, work, product, load)
    end_marked("PLIMSOLL_WORK", str(work))


def over_ssh(folder: Path, clock: Clock, sshd: Sshd, connections: Connections) -> tuple[Provider, dict[str, Any]]:
    host = {"host_key": sshd.host_key, "ssh_address": sshd.address, "port": sshd.port}
    nodes = [{**host, "address": f"127.20.0.{number}"} for number in (1, 2, 3)]
    load, further = ({**host, "address": f"127.20.0.{number}"} for number in (10, 11))
    rack = {"name": "rack1", "folder": str(folder), "nodes": nodes, "load": load}
    rack["further_load_hosts"] = [further]
    return SshProvider(connections, clock), {"connection": CONNECTION, "groups": [rack], "disk_per_host": "1M"}


@pytest.mark.parametrize("site", ["ssh", "local"], indirect=True)
def test_a_campaign_on_kept_hosts_reaches_its_report_and_leaves_them_clean(site: Site) -> None:
    ran = run_cells(site.tools, "campaign", [cell.id for cell in running_order(resolve(site.definition))], "me", print)

    assert [one.verdict is not None and one.verdict.valid for one in ran] == [True, True]
    assert site.product.found == [0, 0], "a cell's processes were there when the next one was deployed"
    clusters = [layout.CLUSTER.read(site.tools.store, one.work.key) for one in ran]
    assert {str(one.id) for one in clusters if one} == {"campaign/hosts/1"}
    assert site.nothing_is_left()
    pass_gate(site.tools, "campaign", [])
    with nullcontext() if site.provider is LocalProvider else undrawn():
        publish_report(site.tools, "campaign")
    assert site.tools.store.exists(report_key("campaign"))


def test_what_a_killed_cell_left_is_gone_before_the_next_one_is_deployed(site: Site) -> None:
    first, second = (cell.id for cell in running_order(resolve(site.definition)))
    dead = begin(site.tools, "campaign", first, "dead")
    for step in (actions.provision, actions.deploy):
        step(dead)
    assert len(marked("PLIMSOLL_WORK", str(site.work))) >= 3
    [ran] = run_cells(site.tools, "campaign", [second], "me", print)
    assert site.product.found == [0, 0]
    fingerprint = layout.FINGERPRINT.read(site.tools.store, ran.work.key)
    assert fingerprint is not None
    assert fingerprint.cluster == "hosts/1"
    assert site.nothing_is_left()


class Killed(BaseException):
    """The process is no more: nothing is cleaned up behind it."""


def kill(*_: object, **__: object) -> None:
    raise Killed


def while_the_load_runs(patch: pytest.MonkeyPatch, site: Site) -> None:
    """Kill the process at the first look at the load."""

    def look_and_die(*arguments: Any) -> None:
        assert look(*arguments).state == "running"
        kill()

    patch.setattr(site.load, "lasts_s", 600)
    patch.setattr(loading, "look", look_and_die)


Strike = Callable[[pytest.MonkeyPatch, Site], None]
STRIKES: dict[str, Strike] = {
    "before hosts are asked for": lambda patch, site: patch.setattr(site.provider, "ensure", kill),
    "before others' remains are removed": lambda patch, site: patch.setattr(site.provider, "clear", kill),
    "in the check of the hosts": lambda patch, _: patch.setattr(actions, "examine", kill),
    "before the load starts": lambda patch, _: patch.setattr(loading, "start_all", kill),
    "while the load runs": while_the_load_runs,
    "when the nodes' files are stored": lambda patch, site: patch.setattr(site.load, "files", kill),
    "before the hosts are given back": lambda patch, _: patch.setattr(kept_hosts, "end_assignment", kill),
}


def killed(site: Site, strike: Strike) -> AttemptContext:
    """Return an attempt at the first cell whose process is no more."""
    dead = begin(site.tools, "campaign", running_order(resolve(site.definition))[0].id, "dead")
    with pytest.MonkeyPatch.context() as patch:
        strike(patch, site)
        with pytest.raises(Killed):
            all_steps(dead, poll_s=0.1)
    return dead


def the_next_cell_has_the_same_hosts_and_finds_nothing_there(site: Site) -> None:
    [ran] = run_cells(site.tools, "campaign", [running_order(resolve(site.definition))[1].id], "me", print)
    assert ran.verdict is not None
    assert ran.verdict.valid
    assert set(site.product.found) == {0}, "a killed cell's processes were there when the next one was deployed"
    fingerprint = layout.FINGERPRINT.read(site.tools.store, ran.work.key)
    assert (fingerprint and fingerprint.cluster, fingerprint and fingerprint.replaces) == ("hosts/1", "")
    assert site.nothing_is_left()


@pytest.mark.parametrize("when", STRIKES)
def test_killed_in_a_step_the_next_cell_has_the_same_hosts_and_finds_nothing_of_it(site: Site, when: str) -> None:
    dead = killed(site, STRIKES[when])
    the_next_cell_has_the_same_hosts_and_finds_nothing_there(site)
    has_all = when == "before the hosts are given back"
    assert (layout.MANIFEST.read(site.tools.store, dead.key) is not None) == has_all


@pytest.mark.parametrize("site", ["local"], indirect=True)  # judging asks no host
def test_killed_before_its_verdict_the_attempt_is_judged_when_its_hosts_are_gone(site: Site) -> None:
    dead = killed(site, lambda patch, _: patch_place(patch, "judge.attempt_judging", "VERDICT", write=kill))
    the_next_cell_has_the_same_hosts_and_finds_nothing_there(site)
    assert attempt_judging.judge(dead).valid


def test_killed_while_it_destroys_the_hosts_the_next_run_does(site: Site) -> None:
    work = begin(site.tools, "campaign", running_order(resolve(site.definition))[0].id, "me")
    for step in (actions.provision, actions.deploy, actions.destroy):
        step(work)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site.provider, "destroy", kill)
        with pytest.raises(Killed):
            kept_hosts.end_kept(site.tools, "campaign")
    kept_hosts.end_kept(site.tools, "campaign")
    assert site.nothing_is_left()


@pytest.mark.parametrize("site", ["local"], indirect=True)
def test_a_host_of_this_machine_that_is_lost_under_a_cell_is_replaced_alone(site: Site) -> None:
    first, second = (cell.id for cell in running_order(resolve(site.definition)))
    work = begin(site.tools, "campaign", first, "me")
    before = actions.provision(work)
    actions.deploy(work)
    shutil.rmtree(site.work / "campaign" / "hosts" / "1" / "node2")
    actions.destroy(work)
    [ran] = run_cells(site.tools, "campaign", [second], "me", print)
    after, fingerprint = (
        layout.CLUSTER.read(site.tools.store, ran.work.key),
        layout.FINGERPRINT.read(site.tools.store, ran.work.key),
    )
    assert after is not None
    assert fingerprint is not None
    stayed = [one.name for one, other in zip(before.hosts, after.hosts, strict=True) if one.address == other.address]
    assert (after.id, stayed) == (before.id, ["node1", "node3", "load"])
    assert fingerprint.replaces == f"{before.nodes[1].address} died and was replaced by {after.nodes[1].address}"
    assert site.product.found == [0, 0], "processes of the cell were there when the next one was deployed"
    assert site.nothing_is_left()


def test_the_first_load_host_that_is_unfit_is_replaced_alone_and_its_files_keep_their_place(site: Site) -> None:
    first, second = (cell.id for cell in running_order(resolve(site.definition)))
    work = begin(site.tools, "campaign", first, "me")
    before = actions.provision(work)
    actions.deploy(work)
    actions.destroy(work)
    kept_records.note_unfit(site.tools, before.id, {before.load_host.identity: "its network is slow"})

    [ran] = run_cells(site.tools, "campaign", [second], "me", print)

    after, fingerprint = (
        layout.CLUSTER.read(site.tools.store, ran.work.key),
        layout.FINGERPRINT.read(site.tools.store, ran.work.key),
    )
    assert after is not None
    assert fingerprint is not None
    assert ran.verdict is not None
    assert ran.verdict.valid
    assert (after.id, after.nodes, after.load_host.name) == (before.id, before.nodes, before.load_host.name)
    sentence = f"{before.load_host.address} was replaced by {after.load_host.address} (its network is slow)"
    assert fingerprint.replaces == sentence
    assert list(site.tools.store.keys(layout.attempt_file(ran.work.key, f"{layout.RAW}/load")))
    assert site.nothing_is_left()


@pytest.mark.parametrize("by", ["cancel", "reaper"])
def test_cancelling_a_cell_and_destroying_what_lives_give_the_hosts_back(site: Site, by: str) -> None:
    work = begin(site.tools, "campaign", running_order(resolve(site.definition))[0].id, "me")
    for step in (actions.provision, actions.deploy):
        step(work)
    if by == "cancel":
        cancel(work, "somebody")
        actions.destroy(work)
    else:
        known = replace(site.tools, places=StoredPlaces(site.tools.store, Outage(site.tools.clock)))
        assert [str(one.id) for one in living_clusters(known).clusters] == ["campaign/hosts/1"]
        assert reap(known, lambda _: False).troubles == ()
    assert site.nothing_is_left()
