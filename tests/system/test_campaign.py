"""Real campaigns: real databases, real load generators, a real Airflow, to their reports.

One on a Cassandra node of this machine, in `make test-all` on three; one on a Redis that is there, whose machine is
looked at; in `make test-all` also one on a group of static hosts over SSH.
"""

import getpass
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.integration.command_database.guide import REDIS_LOAD, guided
from tests.support.airflow.run_to_report import run_to_report
from tests.support.airflow.secret_search import places_that_tell, words_of_key
from tests.support.airflow.stack import StackUnderTest
from tests.support.campaigns.local_definition import ONE_INTERVAL, local_definition
from tests.support.nodes.even import EVEN_NODES
from tests.support.nodes.their_redis import HOST as REDIS_HOST
from tests.support.nodes.their_redis import PASSWORD, TheirRedis, their_redis
from tests.support.processes import marked
from tests.support.ssh.sshd import CONNECTION, OneKey
from tests.support.ssh.static_hosts import StaticHosts, running_hosts
from tests.support.suite.requirements import IS_LONG, long

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.ssh import Connections, SshProvider
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.bootstrap import build_toolkit
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.text.units import parse_size
from plimsoll.ports.host import Job
from plimsoll.ports.provider import Places
from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.cell.sizing import size_remark
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.hosts.reaping import living_clusters
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import report_key
from plimsoll.services.store.tables import table_file
from plimsoll.settings import Settings
from plimsoll.strategies.matrix import running_order

LIFETIME = timedelta(hours=1)
NODES, SIZE, COPIES = (3, "5M", 3) if IS_LONG else (1, "1M", 1)
"""The rows on each node's disk, and on how many nodes each of them is."""

pytestmark = pytest.mark.timeout(1800)


def small_definition() -> Definition:
    """Define one cell, with one judged interval.

    Its rows are to have a size on disk, and two load hosts share its load. The rows are few, because nodes that have
    just started take much processor time for each that they write.
    """
    small = local_definition("small", variants=1, nodes=NODES).model_dump(mode="json")
    workload = {"name": "StandardRow", "data_per_node": SIZE, "replication_factor": COPIES}
    two = {**small["load_generator"], "hosts": 2, "threads": 1}
    return Definition.model_validate({**small, **ONE_INTERVAL, "workload": workload, "load_generator": two})


def ssh_definition(hosts: StaticHosts) -> Definition:
    """Define one cell of one node on the hosts, with one judged interval."""
    small = local_definition("static", variants=1, nodes=1).model_dump(mode="json")
    over_ssh = {"name": "ssh", "options": hosts.options}
    return Definition.model_validate({**small, **ONE_INTERVAL, "provider": over_ssh})


def endpoint_definition(theirs: TheirRedis, hosts: StaticHosts, script: Path) -> Definition:
    """Define one cell of the guide's Redis, whose machine is one of the hosts."""
    words = {"db.example:6379": f"{REDIS_HOST}:{theirs.port}", "/opt/redis-load.py": str(script)}
    definition = guided("staging-redis", {**words, "python3": sys.executable}, {"rows": "1k"}, "endpoint.md")
    provider = definition.provider.model_dump(mode="json")
    [group, *_] = hosts.options["groups"]
    observe = {"ssh": CONNECTION, "hosts": [group["load"]], "runs_as": getpass.getuser()}
    log, folder = str(theirs.folder / "log"), str(script.parent / "observed")
    provider["options"]["observe"] = {**observe, "logs": [log], "folder": folder}
    return definition.model_copy(update={"provider": ProviderChoice.model_validate(provider)})


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TheirRedis]:
    with their_redis(tmp_path_factory.mktemp("theirs")) as redis:
        yield redis


@pytest.fixture(scope="module")
def endpoint(theirs: TheirRedis, hosts: StaticHosts, tmp_path_factory: pytest.TempPathFactory) -> Definition:
    script = tmp_path_factory.mktemp("script") / "redis-load.py"
    script.write_bytes(REDIS_LOAD.read_bytes())
    return endpoint_definition(theirs, hosts, script)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticHosts]:
    with running_hosts(tmp_path_factory.mktemp("static")) as hosts:
        yield hosts


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    return ObjectStore(str(tmp_path_factory.mktemp("store")))


@pytest.fixture(scope="module")
def airflow(
    airflow_stack: Callable[..., StackUnderTest],
    tmp_path_factory: pytest.TempPathFactory,
    hosts: StaticHosts,
    theirs: TheirRedis,
    endpoint: Definition,
    store: ObjectStore,
) -> StackUnderTest:
    """Provide one with all campaigns' DAGs, and the hosts' key and the database's password in connections."""
    campaigns = tmp_path_factory.mktemp("campaigns")
    for definition in (small_definition(), ssh_definition(hosts), endpoint):
        (campaigns / f"{definition.name}.yaml").write_text(dump_definition(definition))
    # Databases and JDKs come from the cache that `make demo` fills too.
    environment = {
        **EVEN_NODES,
        "PLIMSOLL_CAMPAIGNS": str(campaigns),
        "PLIMSOLL_STORE": store.root,
        "PLIMSOLL_CACHE": str(Settings().cache),
    }
    running = airflow_stack(env=environment, dag_ids=["small", "static", endpoint.dag_id, "cell"])
    key = {"private_key": hosts.key.private}
    running.connect(CONNECTION, conn_type="ssh", login=OneKey(hosts.key.private).user, extra=key)
    authority = {"authority": theirs.authority.pem}
    running.connect("staging_redis", conn_type="generic", password=PASSWORD, extra=authority)
    return running


def test_a_campaign_on_a_database_that_is_there_reaches_its_report(
    airflow: StackUnderTest, store: ObjectStore, endpoint: Definition
) -> None:
    campaign = CampaignStore(store, "endpoint-mine")

    run_to_report(airflow, campaign, endpoint, timeout_s=600)

    verdict = valid_verdict(campaign, "staging-00100-r1")
    assert verdict is not None
    assert verdict.met is not None  # missed where this machine stood still for an interval
    assert store.exists(report_key(campaign.campaign_id))
    fingerprint = layout.FINGERPRINT.read(store, verdict.key)
    assert fingerprint is not None
    [told] = fingerprint.reported_nodes
    assert told.release_version
    assert set(attempt_data(store, verdict).hosts["host"]) == {"node1", "load"}
    assert PASSWORD.encode() not in b"".join(store.read(key) for key in store.keys(campaign.campaign_id))


def test_a_campaign_on_this_machine_reaches_its_report(airflow: StackUnderTest, store: ObjectStore) -> None:
    definition, campaign = small_definition(), CampaignStore(store, "small-mine")

    run_to_report(airflow, campaign, definition, timeout_s=1500)

    assert_complete(campaign, definition)
    verdict = valid_verdict(campaign, "g1-00200-r1")
    assert verdict is not None
    fingerprint = layout.FINGERPRINT.read(store, verdict.key)
    assert fingerprint is not None
    assert [node.processes[0].jvm.collector for node in fingerprint.nodes] == ["G1"] * NODES
    assert list(fingerprint.load_hosts) == ["load", "load2"]
    assert fingerprint.counted_rows is not None
    start = layout.LOAD_START.read(store, verdict.key)
    assert start is not None
    assert len(start.data_bytes) == NODES
    asked = parse_size(SIZE)
    # On busy processors nodes get some rows twice, by hints after a timeout: then the verdict tells of it
    assert all(abs(size - asked) < asked / 5 for size in start.data_bytes.values()), start.data_bytes
    remark = size_remark(asked, start.data_bytes)
    assert not remark or remark in verdict.warnings
    found = living_clusters(build_toolkit(Settings(work=airflow.stack.settings.work)))
    assert not found.unseen
    assert not found.clusters


@long("a load over SSH, and a campaign on this machine, run apart")
def test_a_campaign_on_static_hosts_reaches_its_report(
    airflow: StackUnderTest, store: ObjectStore, hosts: StaticHosts
) -> None:
    definition, campaign = ssh_definition(hosts), CampaignStore(store, "static-mine")
    abandon(hosts)

    with hosts.holders() as holders:
        run_to_report(airflow, campaign, definition, timeout_s=1500)

    assert_complete(campaign, definition)
    attempts = campaign.attempts("g1-00200-r1")
    for key in attempts:
        cluster, fingerprint = layout.CLUSTER.read(store, key), layout.FINGERPRINT.read(store, key)
        assert cluster is not None
        assert {host.facts["group"] for host in cluster.hosts} == {"here"}
        assert fingerprint is not None
        assert [node.processes[0].jvm.collector for node in fingerprint.nodes] == ["G1"]
    assert holders >= {str(key) for key in attempts}
    assert not hosts.holder()
    clusters = hosts.folder / "clusters"
    assert not marked("PLIMSOLL_WORK", str(clusters))
    assert not [path for path in clusters.rglob("*") if path.is_file()]
    assert not any((found := places_that_tell(airflow, store, words_of_key(hosts.key.private))).values()), str(found)
    assert all(places_that_tell(airflow, store, ["static-mine"]).values()), "the search finds nothing at all"


def assert_complete(campaign: CampaignStore, definition: Definition) -> None:
    """Check that there are the report and, for each cell, a verdict with the tables that its charts are drawn from."""
    verdicts = [valid_verdict(campaign, cell.id) for cell in running_order(resolve(definition))]
    assert all(verdict and verdict.operations > 1000 for verdict in verdicts)
    for verdict in filter(None, verdicts):
        data = attempt_data(campaign.store, verdict)
        assert {"reads", "writes"} <= set(data.latencies["operation"])
        assert set(data.activity["host"]) >= {"load", "node1"}
        assert campaign.store.exists(layout.attempt_file(verdict.key, table_file("log_lines")))
    assert campaign.store.exists(report_key(campaign.campaign_id))


def abandon(hosts: StaticHosts) -> None:
    """Leave the hosts to an attempt whose controller died: its time is over, its job and its files are still there."""
    connections, options = Connections(OneKey(hosts.key.private)), hosts.options
    provider = SshProvider(connections, SystemClock()).at(Places((options,)))
    key, expired = ClusterId(campaign_id="earlier", name="g1-00200-r1/1"), datetime.now(UTC)
    cluster = provider.ensure(ClusterRequest(id=key, owner="dead", nodes=1, expires_at=expired, options=options))
    provider.host(cluster, cluster.nodes[0]).start(Job("database", ("sleep", "3600"), LIFETIME))
    connections.close()
    assert hosts.holder() == str(key)
    assert marked("PLIMSOLL_WORK", str(hosts.folder / "clusters"))
