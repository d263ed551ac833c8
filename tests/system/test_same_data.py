"""A ramp on the same data through a real Airflow: three real nodes that are kept, one populated database, two loads."""

import json
from collections.abc import Callable

import pytest
from tests.support.airflow.run_to_report import disturbed_ramp
from tests.support.airflow.stack import StackUnderTest
from tests.support.campaigns.local_definition import ONE_INTERVAL, local_definition
from tests.support.campaigns.raw_files import raw_text
from tests.support.nodes.even import EVEN_NODES
from tests.support.processes import until
from tests.support.suite.requirements import long
from tests.support.suite.tries import tries

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import report_key
from plimsoll.settings import Settings
from plimsoll_airflow.local.client import DagRun

LOWER, HIGHER = "g1-00100-r1", "g1-00200-r1"
PATIENCE_S = 900

pytestmark = [
    pytest.mark.timeout(3000),
    long("loads share data with stand-ins, and cells share hosts in reliability"),
]


def ramped_definition() -> Definition:
    """Define two loads of one variant, one after the other on three kept nodes, with one judged interval each."""
    small = local_definition("ramped", variants=1).model_dump(mode="json")
    ramp = {"strategy": {"name": "ramp", "data": "same"}, "cluster_scope": "campaign", "loads": ["100/s", "200/s"]}
    workload = {"name": "KeyValue", "rows": 2000, "keycount": 2000, "replication_factor": 3}
    return Definition.model_validate({**small, **ONE_INTERVAL, **ramp, "workload": workload})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    return ObjectStore(str(tmp_path_factory.mktemp("store")))


@pytest.fixture(scope="module")
def airflow(
    airflow_stack: Callable[..., StackUnderTest], tmp_path_factory: pytest.TempPathFactory, store: ObjectStore
) -> StackUnderTest:
    campaigns = tmp_path_factory.mktemp("campaigns")
    (campaigns / "ramped.yaml").write_text(dump_definition(ramped_definition()))
    environment = {
        **EVEN_NODES,
        "PLIMSOLL_CAMPAIGNS": str(campaigns),
        "PLIMSOLL_STORE": store.root,
        "PLIMSOLL_CACHE": str(Settings().cache),
    }
    return airflow_stack(env=environment, dag_ids=["ramped", "cell"])


def test_the_higher_load_goes_on_with_the_nodes_and_the_rows_of_the_lower_one(
    airflow: StackUnderTest, store: ObjectStore
) -> None:
    low, high = ramped(airflow, store)

    fingerprints = [layout.FINGERPRINT.read(store, key) for key in (low, high)]
    assert [one and one.data_of for one in fingerprints] == [(), (f"{LOWER}/1",)]
    clusters = [layout.CLUSTER.read(store, key) for key in (low, high)]
    assert len({str(one and one.hosts) for one in clusters}) == 1
    for node in ("node1", "node2", "node3"):
        lower, higher = (raw_text(store, key, f"{node}/cassandra/system.log") for key in (low, high))
        assert higher.startswith(lower), f"another process wrote {node}'s second log"
    populated, gone_on = (json.loads(raw_text(store, key, "load/summary.json")) for key in (low, high))
    assert (populated["populate"]["scheduled"], gone_on["populate"]) == (2000, None)


def ramped(airflow: StackUnderTest, store: ObjectStore) -> tuple[AttemptKey, AttemptKey]:
    """Return the only attempts at both loads, of the first campaign that the machine did not disturb.

    It has its report. Beside other programs a load may miss, which ends its ramp, or the machine may stall under
    it.
    """
    for name in map("ramped-{}".format, tries()):
        airflow.run_to_end("ramped", {"campaign_id": name}, timeout_s=PATIENCE_S)
        runs = all_rounds(airflow)
        campaign = CampaignStore(store, name)
        keys = [key for cell in (LOWER, HIGHER) for key in campaign.attempts(cell)]
        verdicts = [layout.VERDICT.read(store, key) for key in keys]
        if not disturbed_ramp(verdicts, loads=2):
            break
    assert {run.state for run in runs} == {"success"}, (runs, verdicts)
    assert [key.cell_id for key in keys] == [LOWER, HIGHER], verdicts
    until(lambda: store.exists(report_key(name)), "the report", patience_s=PATIENCE_S)
    lower, higher = keys
    return lower, higher


def all_rounds(airflow: StackUnderTest) -> list[DagRun]:
    """Return the DAG's runs once all have ended. A run starts that of the next round before it ends."""
    runs = airflow.client.dag_runs
    until(lambda: all(run.is_final for run in runs("ramped")), "the last round", patience_s=PATIENCE_S)
    return runs("ramped")
