"""One real campaign: real Cassandra clusters of three nodes, the real load generator, a real Airflow, to its report."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.airflow_stack import StackUnderTest
from tests.standstills import run_to_report

from plimsoll.adapters.object_store import ObjectStore
from plimsoll.bootstrap import load_definition
from plimsoll.domain.definition import Definition, Timing
from plimsoll.services.campaigns import CampaignStore, read_fingerprint
from plimsoll.services.definitions import dump_definition
from plimsoll.services.planning import running_order
from plimsoll.settings import Settings

CAMPAIGN = "small-mine"


def small_definition() -> Definition:
    """The demo with one load and little time: two collectors, two judged intervals."""
    demo = load_definition(Settings(), "demo")
    timing = Timing.model_validate({"duration": "30s", "warmup": "10s"})
    return demo.model_copy(update={"name": "small", "loads": (200,), "timing": timing})


@pytest.mark.timeout(1800)
def test_a_campaign_on_real_clusters_reaches_its_report(
    airflow_stack: Callable[..., StackUnderTest], tmp_path: Path
) -> None:
    definition = small_definition()
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "campaigns" / "small.yaml").write_text(dump_definition(definition))
    # Databases and JDKs come from the cache that `make demo` fills too.
    environment = {
        "PLIMSOLL_CAMPAIGNS": str(tmp_path / "campaigns"),
        "PLIMSOLL_STORE": str(tmp_path / "store"),
        "PLIMSOLL_CACHE": str(Settings().cache),
    }
    airflow = airflow_stack(env=environment, dag_ids=["small", "cell"])

    store = ObjectStore(str(tmp_path / "store"))
    campaign = CampaignStore(store, CAMPAIGN)

    run_to_report(airflow, campaign, definition, timeout_s=1500)

    verdicts = [campaign.valid_verdict(cell.id) for cell in running_order(definition)]
    assert all(verdict and verdict.operations > 0 for verdict in verdicts)
    fingerprint = read_fingerprint(store, campaign.key("g1-00200-r1", 1))
    assert fingerprint is not None
    assert [node.jvm.collector for node in fingerprint.nodes] == ["G1"] * 3
    assert store.exists(f"{CAMPAIGN}/report/report.html")
    assert not _clusters(airflow)


def _clusters(airflow: StackUnderTest) -> list[str]:
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.services.reaping import living_clusters

    work = airflow.stack.settings.work
    found = living_clusters(build_toolkit(Settings(work=work)))
    assert not found.unseen
    return [str(cluster.key) for cluster in found.clusters]
