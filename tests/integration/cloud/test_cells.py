"""Whole cells on the test cloud with a real node: by other load generators, and with a load that two hosts share.

They run as users run them without Airflow: by the shipped toolkit, with an SSH key and an account from the environment.
`make test` runs the one of two load hosts.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from tests.cloud.cloud import REGION, Cloud
from tests.support.campaigns.ec2_definition import ec2_options
from tests.support.campaigns.running import run_cell
from tests.support.nodes.slowness import not_slow
from tests.support.nodes.small import define
from tests.support.ssh.command import keygen
from tests.support.suite.requirements import long
from tests.support.suite.tries import tries

from plimsoll.adapters.generators.latte import installed
from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.local.host import LocalHost
from plimsoll.bootstrap import full_toolkit
from plimsoll.domain.attempt.load_summary import LoadStart
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.grid import cell_ids
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster, ClusterRequest, HostInfo
from plimsoll.domain.hosts.cost import Entry
from plimsoll.domain.hosts.fingerprint import Fingerprint
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.spending import ledger
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

pytestmark = pytest.mark.timeout(1200)
ON_LOCAL_NODES = long("such cells run on local nodes too")

MIXED = {"name": "mixed", "rows": 1000, "write": 3, "read": 1, "replication_factor": 1}
RATE = 200
TIMING = {"duration": "14s", "warmup": "4s"}
JUDGED_OPERATIONS, ALL_OPERATIONS = RATE * 10, RATE * 14
# All hosts share two processors with other tests: what a node takes meanwhile says nothing.
LENIENT = [{"percentile": 99, "interval": "5s", "below": "30s"}]


@pytest.fixture(scope="module")
def tools(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolkit]:
    """Provide everything shipped, with results in the cloud's bucket, from which hosts fetch what they need."""
    folder = tmp_path_factory.mktemp("cells")
    settings = Settings(
        store=f"s3://{cloud.landscape.bucket}/cells",
        work=folder / "work",
        cache=Settings().cache,
        ssh_key=keygen(folder / "id"),
        ssh_user="ec2-user",
    )
    account = {"ACCESS_KEY_ID": "t", "SECRET_ACCESS_KEY": "t", "DEFAULT_REGION": REGION, "ENDPOINT_URL": cloud.endpoint}
    with pytest.MonkeyPatch.context() as environment:
        for name, value in account.items():
            environment.setenv(f"AWS_{name}", value)
        yield full_toolkit(settings)


def definition_of(cloud: Cloud, name: str, workload: Mapping[str, Any], generator: Mapping[str, Any]) -> Definition:
    """Define one cell on one node, with that load."""
    content = define(nodes=1).model_dump(mode="json", exclude={"workload", "load_generator", "timing"})
    options = ec2_options(cloud.landscape, startup="2m")
    return Definition.model_validate(
        {
            **content,
            "name": name,
            "loads": [f"{RATE}/s"],
            "workload": workload,
            "load_generator": {"heap": "128M", **generator},
            "timing": TIMING,
            "service_levels": LENIENT,
            "provider": {"name": "ec2", "options": options},
        }
    )


@dataclass(frozen=True)
class Outcome:
    """The only cell's last attempt."""

    verdict: Verdict
    fingerprint: Fingerprint
    start: LoadStart | None
    files: frozenset[str]
    operations: frozenset[str]


def outcome_of(tools: Toolkit, definition: Definition) -> Outcome:
    """Run the cell, and again as users do where the machine stalled under it."""
    assert problems(tools, definition) == ()
    campaign = CampaignStore(tools.store, definition.name)
    campaign.open(definition)
    ran, verdict = run_cell(tools, definition.name, print)
    fingerprint, prefix = (
        layout.FINGERPRINT.read(tools.store, ran.work.key),
        layout.attempt_file(ran.work.key, layout.RAW),
    )
    assert fingerprint is not None
    return Outcome(
        verdict=verdict,
        fingerprint=fingerprint,
        start=layout.LOAD_START.read(tools.store, ran.work.key),
        files=frozenset(path.removeprefix(f"{prefix}/") for path in tools.store.keys(prefix)),
        operations=frozenset(attempt_data(tools.store, verdict).intervals["operation"]),
    )


@ON_LOCAL_NODES
def test_cassandra_stress_puts_on_a_load_that_is_judged(tools: Toolkit, cloud: Cloud) -> None:
    generator = {"name": "cassandra-stress", "threads": 2, "concurrency": 10}

    outcome = outcome_of(tools, definition_of(cloud, "by-theirs", MIXED, generator))

    assert (outcome.verdict.valid, outcome.verdict.outcome) == (True, "met"), outcome.verdict.reasons
    # On a busy machine some of the warm-up's operations are answered in the judged time.
    assert 0.98 * JUDGED_OPERATIONS < outcome.verdict.operations <= ALL_OPERATIONS
    assert outcome.operations == {"all", "reads", "writes"}
    assert outcome.fingerprint.load_generator.startswith("cassandra-stress of Cassandra 4.0-alpha2 on ")
    assert {"load/cassandra-stress.hdr", "load/load.console", "load/populate.end", "load/load.end"} <= outcome.files
    assert cloud.nothing_left(), cloud.leftovers()


def test_two_load_hosts_share_a_load_that_is_judged_as_one(tools: Toolkit, cloud: Cloud) -> None:
    row = {"name": "StandardRow", "rows": 1000, "write": 3, "read": 1, "replication_factor": 1}

    for number in tries():
        outcome = outcome_of(tools, definition_of(cloud, f"by-two-{number}", row, {"hosts": 2, "threads": 1}))
        if not is_slow(outcome.verdict):
            break

    assert (outcome.verdict.valid, outcome.verdict.outcome) == (True, "met"), outcome.verdict.reasons
    # An operation counts when it is answered, late ones of the warm-up too. One host alone has half of all at most.
    assert ALL_OPERATIONS / 2 < outcome.verdict.operations <= ALL_OPERATIONS
    assert outcome.operations == {"all", "reads", "writes"}
    assert list(outcome.fingerprint.load_hosts) == ["load", "load2"]
    assert {f"{host}/summary.json" for host in ("load", "load2")} <= outcome.files
    start = outcome.start
    assert start is not None
    assert start.clocks.keys() == start.clocks_after.keys() == {"load", "load2"}
    # Both hosts have this machine's clock: what their clocks seem to differ by is the error of the comparison.
    assert all(abs(reading.offset_ms) <= reading.error_ms + 1 for reading in start.clocks.values())
    assert cloud.nothing_left(), cloud.leftovers()


def is_slow(verdict: Verdict) -> bool:
    """Tell whether it is a miss because the node stood still for longer than requests wait."""
    return verdict.outcome == "missed" and bool(verdict.errors) and not_slow(verdict.errors) == {}


@ON_LOCAL_NODES
def test_a_node_joins_under_load_on_a_host_that_was_launched_with_the_others(tools: Toolkit, cloud: Cloud) -> None:
    rows = {"name": "KeyValue", "rows": 1000, "replication_factor": 1}
    content = definition_of(cloud, "joined", rows, {"threads": 1}).model_dump(mode="json")
    content["variants"][0]["jvm"]["flags"].append("-Dcassandra.ring_delay_ms=10000")
    timing, action = {"duration": "3m", "warmup": "10s"}, {"name": "add-node", "at": "20s"}

    outcome = outcome_of(tools, Definition.model_validate({**content, "timing": timing, "action": action}))

    assert (outcome.verdict.valid, outcome.verdict.outcome) == (True, "met"), outcome.verdict.reasons
    assert outcome.verdict.action is not None
    assert [one.host for one in outcome.fingerprint.nodes] == ["node1", "node2"]
    [entry] = campaign_entries(tools, "joined")
    assert entry.final
    assert entry.usd > 0
    assert cloud.nothing_left(), cloud.leftovers()


@ON_LOCAL_NODES
def test_a_load_host_of_ec2_loads_a_cluster_that_somebody_else_runs(tools: Toolkit, cloud: Cloud) -> None:
    rows = {"name": "KeyValue", "rows": 500, "replication_factor": 1}
    theirs = definition_of(cloud, "theirs", rows, {})
    CampaignStore(tools.store, theirs.name).open(theirs)
    work = begin(tools, theirs.name, cell_ids(resolve(theirs))[0], "somebody")
    try:
        actions.provision(work)
        actions.deploy(work)
        outcome = outcome_of(tools, external_to(cloud, work.cluster().nodes[0].address, rows))
        assert work.cluster().nodes, "their cluster is as it was"
    finally:
        actions.destroy(work)

    assert (outcome.verdict.valid, outcome.verdict.outcome) == (True, "met"), outcome.verdict.reasons
    assert outcome.verdict.operations == pytest.approx(JUDGED_OPERATIONS, rel=0.02)
    [load] = outcome.fingerprint.load_hosts.values()
    assert load is not None
    [entry] = campaign_entries(tools, "external")
    assert entry.final
    assert entry.usd > 0
    assert cloud.nothing_left(), cloud.leftovers()


def external_to(cloud: Cloud, node: str, rows: Mapping[str, Any]) -> Definition:
    """Define one cell on a cluster that is there, whose load host is launched."""
    options = {
        "contact_points": [node],
        "data_centre": "datacenter1",
        "tls": False,
        "keyspace": "bench",
        "load_hosts": {"provider": "ec2", "options": ec2_options(cloud.landscape, startup="2m")},
    }
    return Definition.model_validate(
        {
            "name": "external",
            "title": "A cluster of somebody else",
            "system": {"database": "external", "nodes": 1},
            "variants": [{"id": "theirs"}],
            "loads": [f"{RATE}/s"],
            "workload": rows,
            "load_generator": {"threads": 2, "heap": "128M"},
            "timing": TIMING,
            "service_levels": LENIENT,
            "stop_when": [{"errors": "50%", "within": "20s"}],
            "provider": {"name": "external", "options": options},
        }
    )


def campaign_entries(tools: Toolkit, campaign: str) -> Sequence[Entry]:
    """Return what each attempt of the campaign cost."""
    return ledger(CampaignStore(tools.store, campaign), tools.clock.now())


@dataclass(frozen=True)
class WithLatte(Ec2Provider):
    """Load hosts of an image that has latte: this machine's."""

    cloud: Cloud
    latte: Path

    @classmethod
    def of(cls, shipped: Ec2Provider, cloud: Cloud, latte: Path) -> "WithLatte":
        """Return the same provider on such an image."""
        return cls(**{one.name: getattr(shipped, one.name) for one in fields(shipped)}, cloud=cloud, latte=latte)

    def ensure(self, request: ClusterRequest) -> Cluster:
        cluster = super().ensure(request)
        for info in cluster.load_hosts:
            place = self.cloud.host(info.facts["instance_id"]).path("/usr/local/bin/latte")
            shutil.copy(self.latte, place)
        return cluster


@pytest.fixture
def latte(tmp_path: Path) -> Path:
    """Find it on this machine, or skip the test: no registry has its binary."""
    here = LocalHost(HostInfo(name="load", role="load", address="127.0.0.1"), tmp_path / "asked", {})
    found = installed(here)
    if found is None or not found.version.startswith("0.29."):
        pytest.skip(f"needs latte 0.29, which is in no registry: {found or 'none'} is on this machine")
    return Path(found.path)


@ON_LOCAL_NODES
def test_latte_puts_on_a_load_that_is_judged(tools: Toolkit, cloud: Cloud, latte: Path) -> None:
    shipped = tools.providers["ec2"]
    assert isinstance(shipped, Ec2Provider)
    equipped = replace(tools, providers={"ec2": WithLatte.of(shipped, cloud, latte)})

    outcome = outcome_of(equipped, definition_of(cloud, "by-latte", MIXED, {"name": "latte", "concurrency": 20}))

    # latte skips what was due while the node was slow, and does not tell why: then its rate is not what was asked for.
    assert outcome.verdict.valid or outcome.verdict.invalidated_by == ("load generator",), outcome.verdict.reasons
    assert outcome.verdict.operations > JUDGED_OPERATIONS / 2
    assert outcome.operations == {"all", "reads", "writes"}
    assert outcome.fingerprint.load_generator.startswith("latte 0.29.")
    assert {"load/latte.json", "load/standard-row.rn", "load/load.end"} <= outcome.files
    assert cloud.nothing_left(), cloud.leftovers()
