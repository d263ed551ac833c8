"""The end of `make demo`: the answer of the campaign, and where its report is."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.undrawn import undrawn

from plimsoll.services.publish.publishing import publish_report
from plimsoll.services.steps.running import run_cells
from plimsoll_airflow.local.client import AirflowClient, DagRun
from plimsoll_airflow.local.demo import CampaignRun, outcome


def ended(installation: Installation) -> CampaignRun:
    client = AirflowClient("http://127.0.0.1:1", "secret")
    run = DagRun("demo", "r1", "success", datetime(2026, 1, 31, tzinfo=UTC), {"campaign_id": "campaign"})
    return CampaignRun(client, installation.toolkit.store, instant_definition(variants=1, loads=2), run)


def shown(run: CampaignRun) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        for thing in outcome(run):
            console.print(thing, soft_wrap=True)
    return captured.get()


def test_the_answer_stands_at_the_end_of_a_complete_campaign(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(instant_definition(variants=1, loads=2))
    run_cells(installation.toolkit, "campaign", ["v1-001k-r1", "v1-002k-r1"], "me", lambda _: None)
    with undrawn():
        publish_report(installation.toolkit, "campaign")

    text = shown(ended(installation))

    assert " carries 2,000 ops/s, the highest load that was run" in text
    assert ": its worst interval was " in text
    assert f"Report: {installation.toolkit.store.url('campaign/report/report.html')}" in text


def test_of_an_incomplete_campaign_it_says_when_its_report_comes(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(instant_definition(variants=1, loads=2))
    run_cells(installation.toolkit, "campaign", ["v1-001k-r1"], "me", lambda _: None)

    assert "its report is published once all have" in shown(ended(installation))


@pytest.mark.parametrize(
    ("campaign_id", "what"),
    [("instant-20260131t120000", "`make demo`"), ("instant-try", "its DAG, triggered with `campaign_id`,")],
)
def test_of_a_run_that_failed_it_says_what_goes_on(tmp_path: Path, campaign_id: str, what: str) -> None:
    class Airflow:
        def dag_runs(self, _dag_id: str, state: str) -> list[DagRun]:
            return []

        def task_instances(self, _dag_id: str, _run_id: str) -> list[object]:
            return []

    run = ended(Installation(tmp_path))
    airflow: Any = Airflow()
    failed = replace(run.run, state="failed", conf={"campaign_id": campaign_id})
    assert f"{what} goes on with campaign {campaign_id}: " in shown(replace(run, client=airflow, run=failed))
