"""What the task `report` tells after it has published: the event of its Asset, and what is news in the trend."""

import json
import logging
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.one_cell import run_cell

from plimsoll.services.publish.trend_marks import stored_marks
from plimsoll.services.publish.trends import FIGURES
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals.moved import AirflowTaskTimeout
from plimsoll_airflow.operators.campaign import PublishReport

pytestmark = pytest.mark.usefixtures("undrawn_reports")
ASSET = Asset("report-nightly")
TO_FILE = "tests.fakes.notifier.ToFile"


class Events(dict[str, SimpleNamespace]):
    """The events of assets, by these: in Airflow 3.1 an asset can be no key."""

    def __getitem__(self, asset: Any) -> SimpleNamespace:
        return super().__getitem__(asset.name)


def publish(*notify: str) -> dict[str, Any]:
    """Run the task, and return what the event of the Asset has in `extra`."""
    event = SimpleNamespace(extra={})
    task = PublishReport(
        task_id="report", definition="nightly", notify=notify, campaign_id="nightly-22", outlets=[ASSET]
    )
    context: Any = {"params": {}, "outlet_events": Events({ASSET.name: event})}
    url = task.execute(context)
    assert event.extra["url"] == url
    return event.extra


@pytest.fixture
def slower(installation: Installation) -> Installation:
    """Provide a published campaign and 21 earlier ones, of which the first 12 were faster."""
    installation.open_campaign(instant_definition("nightly", variants=1, loads=1), "nightly-22")
    run_cell(installation.toolkit, "nightly-22", "v1-001k-r1", "owner", print)
    publish()
    store = installation.toolkit.store
    newest = FIGURES.read(store, "nightly-22")
    assert newest is not None
    for number in range(1, 22):
        factor = (1 if number > 12 else 0.8) * (1 + 0.01 * (number % 3 - 1))
        (part,) = newest.campaign.parts
        scaled = tuple((key, replace(one, value=one.value * factor)) for key, one in part.figures)
        changes = {
            "campaign_id": f"nightly-{number}",
            "began_at": newest.campaign.began_at - timedelta(days=22 - number),
            "parts": (part.model_copy(update={"figures": scaled}),),
        }
        campaign = CampaignStore(store, f"nightly-{number}")
        store.create(layout.CAMPAIGN_OF.key("", "nightly", campaign.campaign_id), b"")
        earlier = {
            "campaign": newest.campaign.model_copy(update=changes),
            "verdict_names": campaign.verdict_names(),
        }
        FIGURES.write(store, campaign.campaign_id, newest.model_copy(update=earlier))
    return installation


@pytest.fixture
def notices_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide the file that notices are written to."""
    told = tmp_path / "told"
    notify_by(monkeypatch, {"notifier": TO_FILE, "path": str(told), "text": "{{ notice_title }}\n{{ notice }}"})
    return told


def notify_by(monkeypatch: pytest.MonkeyPatch, setting: Any) -> None:
    monkeypatch.setenv("PLIMSOLL_NOTIFIER", json.dumps(setting))


def marks(installation: Installation) -> list[str]:
    return [one.kind for one in stored_marks(installation.toolkit.store, ["nightly"]).log]


@pytest.mark.usefixtures("slower")
def test_a_change_is_told_once_with_what_and_where(notices_file: Path) -> None:
    publish("regression", "improvement")
    title, *lines = notices_file.read_text().splitlines()
    assert title.startswith("Plimsoll: ")
    assert title.endswith(" in nightly")
    assert any(line.startswith("regression: v1 at 1,000 ops/s: worst interval") for line in lines)
    assert any("between nightly-12 and nightly-13; " in line for line in lines)
    assert any(line.endswith("nightly-13/report/report.html") for line in lines)

    publish("regression", "improvement")

    assert notices_file.read_text().splitlines() == [title, *lines]


@pytest.mark.usefixtures("slower")
@pytest.mark.parametrize("notify", [(), ("incomplete", "missed-schedule")])
def test_nobody_is_told_who_did_not_ask(notices_file: Path, notify: tuple[str, ...]) -> None:
    publish(*notify)
    assert not notices_file.exists()


@pytest.mark.usefixtures("slower")
def test_the_event_of_the_asset_has_the_answer_in_short() -> None:
    extra = publish()
    assert extra["campaign_id"] == "nightly-22"
    assert extra["headline"]
    assert [one["variant"] for one in extra["capacity"]] == ["v1"]
    assert [(one["variant"], one["campaign_id"]) for one in extra["changes"]] == [("v1", "nightly-13")]
    assert json.loads(json.dumps(extra)) == extra


def test_a_notice_that_can_not_be_sent_fails_no_published_report_and_is_in_the_log(
    slower: Installation,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    notify_by(monkeypatch, {"notifier": TO_FILE, "path": "/nowhere/told", "text": "x"})
    with caplog.at_level(logging.INFO):
        assert publish("regression")["url"]
    assert "could not be sent: FileNotFoundError" in capsys.readouterr().out
    assert "between nightly-12 and nightly-13" in caplog.text
    assert set(marks(slower)) == {"told"}  # whether it arrived is not known: it is not told again


@pytest.mark.parametrize("setting", [{"notifier": "nowhere.Nobody"}, {}])
def test_a_notifier_that_can_not_be_made_uses_up_no_news(
    slower: Installation, monkeypatch: pytest.MonkeyPatch, setting: dict[str, str]
) -> None:
    notify_by(monkeypatch, setting)
    assert publish("regression")["url"]
    monkeypatch.delenv("PLIMSOLL_NOTIFIER")
    publish("regression")
    assert marks(slower) == []


def test_a_trend_that_can_not_be_computed_fails_no_published_report(
    slower: Installation, notices_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower.toolkit.store.write(".definitions/nightly/marks/1.json", b"{")
    extra = publish("regression")
    assert extra["headline"]
    assert extra["changes"] is None
    assert "the trend of nightly could not be told" in capsys.readouterr().out
    assert not notices_file.exists()


def out_of_time(*_: Any) -> None:
    raise AirflowTaskTimeout("Timeout, PID: 1")


@pytest.mark.usefixtures("slower")
@pytest.mark.parametrize("slow", ["publish.trends.stored_trend", "publish.trend_marks.claim_news"])
def test_a_trend_that_takes_too_long_undoes_no_publication(
    monkeypatch: pytest.MonkeyPatch, notices_file: Path, slow: str
) -> None:
    monkeypatch.setattr(f"plimsoll.services.{slow}", out_of_time)
    assert publish("regression")["headline"]
    assert not notices_file.exists()
