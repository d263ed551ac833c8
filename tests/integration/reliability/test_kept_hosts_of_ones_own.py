"""A whole campaign on hosts that are always there, and kept while software is swapped: real sshd, real processes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.census import Census
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import Faults, InstantDatabase
from tests.support.processes import end_marked, marked
from tests.support.ssh.sshd import CONNECTION, OneKey, make_key, running_sshd

from plimsoll.adapters.ssh import Connections, SshProvider
from plimsoll.domain.definition import Definition
from plimsoll.domain.variant import Variant
from plimsoll.ports.host import Host, Job
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.recording import cancel
from plimsoll.services.cell.running import run_cells
from plimsoll.services.hosts.outage import Outage
from plimsoll.services.hosts.places import StoredPlaces
from plimsoll.services.hosts.reaping import living_clusters, reap
from plimsoll.services.publish.publishing import pass_gate, publish_report, report_key
from plimsoll.services.store.campaigns import read_cluster, read_fingerprint
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.matrix import running_order

HOUR = timedelta(hours=1)


class SleepingDatabase(InstantDatabase):
    """A process on each node. Notes what runs on the hosts when a database is deployed."""

    def __init__(self, faults: Faults, work: Path) -> None:
        super().__init__(faults)
        self.work, self.found = work, list[int]()

    def deploy(
        self, definition: Definition, variant: Variant, nodes: Sequence[Host], load: Host, expires: timedelta
    ) -> None:
        """After a look at what others have left."""
        self.found.append(len(marked("PLIMSOLL_WORK", str(self.work))))
        super().deploy(definition, variant, nodes, load, expires)
        for node in nodes:
            node.start(Job("database", ("sleep", "600"), HOUR))


@dataclass
class Site:
    """Two variants, a cell each, on one group of three hosts, which all are this machine."""

    tools: Toolkit
    definition: Definition
    group: Path
    database: SleepingDatabase

    @property
    def work(self) -> Path:
        """Where clusters of the group live."""
        return self.group / "clusters"

    def nothing_is_left(self) -> bool:
        """No process, no file, no lease."""
        files = [path for path in self.work.rglob("*") if path.is_file()]
        return not (marked("PLIMSOLL_WORK", str(self.work)) or files or (self.group / "lease.json").exists())


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    key, group = make_key(tmp_path / "keys", "user"), tmp_path / "rack1"
    with running_sshd(tmp_path / "sshd", [key.public]) as sshd:
        host = {"host_key": sshd.host_key, "ssh_address": sshd.address, "port": sshd.port}
        nodes = [{**host, "address": f"127.20.0.{number}"} for number in (1, 2, 3)]
        load = {**host, "address": "127.20.0.10"}
        rack = {"name": "rack1", "folder": str(group), "nodes": nodes, "load": load}
        options = {"connection": CONNECTION, "groups": [rack], "disk_per_host": "1M"}
        plain: dict[str, Any] = instant_definition(variants=2, loads=1, parallel=1).model_dump(mode="json")
        chosen = {"provider": {"name": "ssh", "options": options}, "cluster_scope": "campaign"}
        definition, connections = Definition.model_validate({**plain, **chosen}), Connections(OneKey(key.private))
        made, database = Installation(tmp_path), SleepingDatabase(Faults(tmp_path / "faults"), group / "clusters")
        tools = replace(
            made.toolkit,
            providers={"ssh": SshProvider(connections, made.toolkit.clock)},
            databases={"instant": database},
            owners=Census(alive={"me"}),
        )
        made.open_campaign(definition)
        yield Site(tools, definition, group, database)
        connections.close()
        end_marked("PLIMSOLL_WORK", str(group / "clusters"))


def test_a_campaign_on_kept_hosts_reaches_its_report_and_leaves_them_clean(site: Site) -> None:
    ran = run_cells(site.tools, "campaign", [cell.id for cell in running_order(site.definition)], "me", print)

    assert [one.verdict is not None and one.verdict.valid for one in ran] == [True, True]
    assert site.database.found == [0, 0], "a cell's processes were there when the next one was deployed"
    clusters = [read_cluster(site.tools.store, one.work.key) for one in ran]
    assert {str(one.id) for one in clusters if one} == {"campaign/hosts/1"}
    assert {one.hosts[0].facts["group"] for one in clusters if one} == {"rack1"}
    assert site.nothing_is_left()
    pass_gate(site.tools, "campaign", [])
    publish_report(site.tools, "campaign")
    assert site.tools.store.exists(report_key("campaign"))


def test_what_a_killed_cell_left_is_gone_before_the_next_one_is_deployed(site: Site) -> None:
    first, second = (cell.id for cell in running_order(site.definition))
    dead = begin(site.tools, "campaign", first, "dead")
    for step in (actions.provision, actions.deploy):
        step(dead)
    assert len(marked("PLIMSOLL_WORK", str(site.work))) >= 3
    [ran] = run_cells(site.tools, "campaign", [second], "me", print)
    assert site.database.found == [0, 0]
    fingerprint = read_fingerprint(site.tools.store, ran.work.key)
    assert fingerprint is not None
    assert fingerprint.cluster == "hosts/1"
    assert site.nothing_is_left()


@pytest.mark.parametrize("by", ["cancel", "reaper"])
def test_cancelling_a_cell_and_destroying_what_lives_give_the_hosts_back(site: Site, by: str) -> None:
    work = begin(site.tools, "campaign", running_order(site.definition)[0].id, "me")
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
