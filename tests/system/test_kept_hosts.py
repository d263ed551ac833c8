"""A real campaign on hosts that are kept while the software on them is swapped, by `plimsoll run`, to its report."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.support.airflow.run_to_report import stalled
from tests.support.campaigns.local_definition import ONE_INTERVAL, local_definition
from tests.support.nodes.even import EVEN_NODES
from tests.support.processes import PLIMSOLL, marked
from tests.support.suite.requirements import long
from tests.support.suite.tries import tries

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import report_key
from plimsoll.settings import Settings
from plimsoll.strategies.matrix import running_order

pytestmark = [
    pytest.mark.timeout(1800),
    long("hosts are kept in reliability"),
]


def kept_definition() -> Definition:
    """Define two collectors, one after the other on the same hosts."""
    small = local_definition("kept", variants=2, nodes=2).model_dump(mode="json")
    return Definition.model_validate({**small, **ONE_INTERVAL, "cluster_scope": "campaign"})


def test_two_variants_share_one_set_of_hosts_and_nothing_is_left(tmp_path: Path) -> None:
    definition, store = kept_definition(), ObjectStore(str(tmp_path / "store"))
    (tmp_path / "kept.yaml").write_text(dump_definition(definition))

    # A run destroys its hosts at its end, so that only a campaign of its own can have both variants on one set.
    for number in tries():
        campaign, work = CampaignStore(store, f"kept-mine-{number}"), tmp_path / f"work-{number}"
        ran = run(tmp_path / "kept.yaml", campaign.campaign_id, work, store)
        if ran.returncode == 0 or not stalled(campaign, definition):
            break

    assert ran.returncode == 0, ran.stdout + ran.stderr
    verdicts = [valid_verdict(campaign, cell.id) for cell in running_order(resolve(definition))]
    assert all(verdict and verdict.operations > 1000 for verdict in verdicts)
    fingerprints = [layout.FINGERPRINT.read(store, verdict.key) for verdict in verdicts if verdict]
    clusters = [layout.CLUSTER.read(store, verdict.key) for verdict in verdicts if verdict]
    assert [one and one.cluster for one in fingerprints] == ["hosts/1", "hosts/1"]
    assert len({str(one and one.hosts) for one in clusters}) == 1
    collectors = {one and one.nodes[0].processes[0].jvm.collector for one in fingerprints}
    assert collectors == {"G1", "Shenandoah"}
    assert store.exists(report_key(campaign.campaign_id))
    assert not marked("PLIMSOLL_WORK", str(work))
    assert not [path for path in work.rglob("*") if path.is_file()]


def run(definition: Path, campaign_id: str, work: Path, store: ObjectStore) -> "subprocess.CompletedProcess[str]":
    """Run `plimsoll run` to its end."""
    folders = {"PLIMSOLL_STORE": store.root, "PLIMSOLL_WORK": str(work), "PLIMSOLL_CACHE": str(Settings().cache)}
    return subprocess.run(
        [PLIMSOLL, "run", str(definition), "--new-campaign", campaign_id],
        env={**os.environ, **EVEN_NODES, **folders},
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
