"""`kill -9` of the scheduler between two rounds of a search: the campaign goes on, and each of its cells runs once."""

import pytest
from tests.support.airflow.kill_scene import ENDED_S, HELD_S, WHOLE_S, Scene
from tests.support.processes import until
from tests.support.suite.requirements import long
from tests.system.kills.definitions import DEFINITIONS

from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

FIRST, SECOND = ("sought~v1-001k-r1", "judge"), ("sought~v1-002k-r1", "deploy")

pytestmark = [
    pytest.mark.timeout(2400),
    long("rounds follow in tests/airflow, and all of Airflow is killed in integration/local"),
]


def test_kill_of_the_scheduler_between_the_rounds_of_a_search(scene: Scene) -> None:
    client, dag_id = scene.airflow.client, DEFINITIONS["sought"].dag_id
    campaign = CampaignStore(scene.installation.toolkit.store, "sought")
    scene.begin("sought", DEFINITIONS["sought"], [FIRST, SECOND])
    until(lambda: FIRST in scene.waiting(), "the judgement of the first round", patience_s=HELD_S)
    scene.gates.open(*FIRST)
    until(lambda: any(campaign.verdicts()), "the verdict of the first round", patience_s=WHOLE_S)
    scene.kill_part("scheduler")

    until(lambda: SECOND in scene.waiting(), "the second round", patience_s=ENDED_S)
    scene.gates.open(*SECOND)
    report = layout.REPORT_FILES.folder("sought")
    until(lambda: any(campaign.store.keys(report)), "the report", patience_s=ENDED_S)
    until(lambda: all(run.is_final for run in client.dag_runs(dag_id)), "the end of all runs", patience_s=WHOLE_S)

    assert [run.state for run in client.dag_runs(dag_id)] == ["success"] * 2, scene.failures("sought")
    scene.assert_each_cell_counts_once("sought")
