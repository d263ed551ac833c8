"""The DAG that removes raw files: there where a setting asks for it, and its task."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.dag_bag import DagBag
from tests.support.campaigns.undrawn import undrawn

from plimsoll.domain.campaign.grid import cell_ids
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.services.housekeeping import retention
from plimsoll.services.housekeeping.known import usage_of
from plimsoll.services.publish.publishing import publish_report
from plimsoll.services.steps.running import run_cells
from plimsoll_airflow.operators.regular import RemoveRawFiles

DAGS = Path(__file__).resolve().parents[2] / "dags"
CONTEXT: Any = {}


@pytest.mark.parametrize(("setting", "value"), [("PLIMSOLL_RAW_DAYS", "90"), ("PLIMSOLL_RAW_GB", "50")])
def test_there_is_the_dag_only_where_a_setting_asks_for_it(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, setting: str, value: str
) -> None:
    def dag_ids() -> set[str]:
        return set(DagBag(dag_folder=str(DAGS), bundle_path=DAGS, bundle_name="dags-folder").dags)

    assert "retention" not in dag_ids()
    monkeypatch.setenv(setting, value)
    assert "retention" in dag_ids()


def test_its_task_removes_raw_files_by_the_settings_and_no_others(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = installation.toolkit
    definition = instant_definition(variants=1, loads=1)
    for name in ("published", "unpublished"):
        installation.open_campaign(definition, name)
        run_cells(tools, name, cell_ids(resolve(definition)), "me", lambda _: None)
    with undrawn():
        publish_report(tools, "published")
    monkeypatch.setenv("PLIMSOLL_RAW_GB", "1")
    assert RemoveRawFiles(task_id="remove").execute(CONTEXT) == []

    everything = retention.Rule(most_bytes=0)
    monkeypatch.setattr(retention.Rule, "of_settings", lambda *_: everything)
    assert RemoveRawFiles(task_id="remove").execute(CONTEXT) == ["published"]
    assert usage_of(tools.store, "published").raw == 0 < usage_of(tools.store, "unpublished").raw
    [removal] = [key for key in tools.store.keys("published") if key.endswith("/raw-removed.json")]
    assert b"Airflow's DAG retention" in tools.store.read(removal)
