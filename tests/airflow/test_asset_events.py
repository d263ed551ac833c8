"""A run that events of an asset began: the newest gives the values, and the others are named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset
from airflow.sdk.api.datamodels._generated import AssetReferenceAssetEventDagRun
from airflow.sdk.execution_time.comms import AssetEventDagRunReferenceResult
from airflow.sdk.execution_time.context import TriggeringAssetEventsAccessor
from tests.fakes.installation import Installation
from tests.fakes.instant import InstantProduct

from plimsoll.domain.campaign.resolve import load_spec, resolve
from plimsoll.domain.campaign.specs import ProductSpec
from plimsoll.domain.keys.trigger import BegunBy
from plimsoll.domain.keys.variant import Download
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.campaign.show.progress import campaign_progress
from plimsoll.services.definitions.reference import parse_definition
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaign_ids
from plimsoll.settings import Settings
from plimsoll_airflow.dags.forms import campaign_params
from plimsoll_airflow.internals.moved import AirflowFailException, AirflowSkipException
from plimsoll_airflow.operators.campaign import Plan, QualityGate
from plimsoll_airflow.runs.asset_events import MARKS_OF_REPORTS, MESSAGE, VALUES, newest_event
from plimsoll_airflow.wiring.core import faults, read_definition, sound_definitions

ASSET = Asset("database-release")
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TEXT = """
name: released
title: Release $(version)
parameters:
  version: {type: text, default: 4.0.1}
  rate: {type: number, default: 1000, at_most: 9000}
system: {database: instant, version: $(version), nodes: 3}
variants: [{id: v1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}]
loads: [$(rate)/s]
load_generator: {name: instant}
timing: {duration: 20s, warmup: 10s}
provider: {name: instant}
trigger: {asset: database-release}
"""
pytestmark = pytest.mark.usefixtures("database")


def event(minutes: float, **extra: Any) -> AssetEventDagRunReferenceResult:
    """Return an event that came so many minutes after noon, by REST."""
    return AssetEventDagRunReferenceResult(
        asset=AssetReferenceAssetEventDagRun(name="database-release", uri="database-release", extra={}),
        extra={**extra, "from_rest_api": True},
        source_task_id=None,
        source_dag_id=None,
        source_run_id=None,
        source_map_index=None,
        source_aliases=[],
        timestamp=NOON + timedelta(minutes=minutes),
    )


def message(minutes: float, id_: str, **values: Any) -> AssetEventDagRunReferenceResult:
    """Return an event that a message of a queue was."""
    made = event(minutes)
    made.extra = {"from_trigger": True, "payload": {VALUES: values, MESSAGE: id_}}
    return made


def context(*events: AssetEventDagRunReferenceResult, params: Mapping[str, Any] | None = None, hours: float = 1) -> Any:
    """Return the context of the task `plan` in a run that the first of these events began, an hour after noon."""
    pushed: dict[str, Any] = {}
    ti = SimpleNamespace(dag_id="released", run_id="asset_triggered__1", task_id="plan", xcom_push=pushed.__setitem__)
    return {
        "ti": ti,
        "params": params or {},
        "dag_run": SimpleNamespace(run_after=NOON + timedelta(hours=hours)),
        # As Airflow does for events that come while another run lives.
        "triggering_asset_events": TriggeringAssetEventsAccessor.build(events[:1]),
        "inlet_events": Inlets(ASSET, Inlet(events)),
    }


@dataclass(frozen=True)
class Inlets:
    """The inlets of a task, of which this asset is one. No dictionary: an asset of Airflow 3.1 can't be a key."""

    asset: Asset
    events: Sequence[AssetEventDagRunReferenceResult]

    def __getitem__(self, asset: Asset) -> Sequence[AssetEventDagRunReferenceResult]:
        assert asset == self.asset
        return self.events


class Inlet(tuple[AssetEventDagRunReferenceResult, ...]):
    """The events of the asset, as a task can ask for them."""

    __slots__ = ()

    def after(self, since: str) -> "Inlet":
        return Inlet(event for event in self if event.timestamp >= datetime.fromisoformat(since))

    def ascending(self, ascending: bool) -> "Inlet":
        return Inlet(sorted(self, key=lambda event: event.timestamp, reverse=not ascending))

    def limit(self, most: int) -> Sequence[AssetEventDagRunReferenceResult]:
        return self[:most]


@pytest.fixture
def installation(installation: Installation) -> Installation:
    installation.write_definition("released", TEXT)
    return installation


def plan(*events: AssetEventDagRunReferenceResult, hours: float = 1) -> list[str]:
    definition = read_definition(Settings(), "released")
    empty = {name: param.value for name, param in campaign_params(resolve(definition)).items()}
    task = Plan(task_id="plan", definition="released", inlets=[ASSET])
    return task.execute(context(*events, params=empty, hours=hours))


def test_an_event_gives_values_to_the_campaign_that_it_begins(installation: Installation) -> None:
    assert plan(event(59, version="4.1.10", rate="3000")) == ["released-20260131t130000__v1-003k-r1"]

    campaign = CampaignStore(installation.toolkit.store, "released-20260131t130000")
    assert campaign.declared().title == "Release 4.1.10"
    progress = campaign_progress(campaign.store, campaign.campaign_id, now=NOON)
    assert progress.parameters == {"version": "4.1.10", "rate": 3000}
    assert str(progress.begun_by) == "begun by an event of database-release, 2026-01-31 12:59:00 UTC"


def test_of_several_events_the_newest_counts_and_the_others_are_named(
    installation: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [event(1), event(2, version="4.1.9"), event(3, version="4.1.10")]
    plan(*events)

    words = (
        "begun by an event of database-release, 2026-01-31 12:03:00 UTC, in place of 2 events before it: "
        "2026-01-31 12:02:00 UTC (version 4.1.9), 2026-01-31 12:01:00 UTC (no values)"
    )
    assert words in capsys.readouterr().out
    campaign = CampaignStore(installation.toolkit.store, "released-20260131t130000")
    assert str(campaign.begun_by(campaign.resolved())) == words
    assert campaign.resolved().values["version"] == "4.1.10"


def test_planning_again_goes_on_with_the_same_campaign(installation: Installation) -> None:
    events = [event(2, version="4.1.9"), event(3, version="4.1.10")]

    assert plan(*events) == plan(*events, event(4, version="4.1.11"))
    assert (
        CampaignStore(installation.toolkit.store, "released-20260131t130000").resolved().values["version"] == "4.1.10"
    )


def test_an_event_is_measured_once_and_never_named_as_skipped_after_that(installation: Installation) -> None:
    """One that comes between the start of a run and its `plan` also begins the next run."""
    first, late, later = event(1, version="4.1.1"), event(62, version="4.1.2"), event(130, version="4.1.3")
    assert plan(first, late) == ["released-20260131t130000__v1-001k-r1"]
    with pytest.raises(AirflowSkipException, match="no event has come since campaign released-20260131t130000"):
        plan(late, hours=2)
    assert campaign_ids(installation.toolkit.store) == ("released-20260131t130000",)

    assert plan(late, later, hours=3) == ["released-20260131t150000__v1-001k-r1"]
    campaign = CampaignStore(installation.toolkit.store, "released-20260131t150000")
    assert str(campaign.begun_by(campaign.resolved())).endswith("14:10:00 UTC")


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"release": "4.1.10"}, "parameters.release: there is no such parameter"),
        ({"version": "4.1.10", "rate": 10_000}, "parameters.rate: must be at most 9000; found 10000"),
        ({"version": 4.1}, "parameters.version: must be text of letters"),
        ({"version": "4.1.10", "cells": "v1-*"}, "parameters.cells: there is no such parameter"),
    ],
)
def test_an_event_that_does_not_fit_is_refused_by_its_time_and_key_before_there_is_a_campaign(
    installation: Installation, extra: dict[str, Any], message: str
) -> None:
    with pytest.raises(AirflowFailException) as caught:
        plan(event(3, **extra))

    assert "the event of asset 'database-release', 2026-01-31 12:03:00 UTC" in str(caught.value)
    assert message in str(caught.value)
    assert campaign_ids(installation.toolkit.store) == ()


def test_software_that_an_event_names_is_fetched_where_it_is_not_there(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str | None] = []

    def downloads(_: InstantProduct, spec: ProductSpec) -> tuple[Download, ...]:
        version = spec.variants[0].version
        return (Download(name=f"instant {version}", size_bytes=None, is_there=version == "4.0.1"),)

    monkeypatch.setattr(InstantProduct, "downloads", downloads)
    monkeypatch.setattr(InstantProduct, "prepare", lambda _, spec: fetched.append(spec.variants[0].version))

    plan(event(1, rate=2000))
    assert fetched == []
    plan(event(61, version="4.1.10"), hours=2)
    assert fetched == ["4.1.10"]
    plan(event(61, version="4.1.10"), hours=2)
    assert fetched == ["4.1.10", "4.1.10"], "another worker has another cache"
    campaign = CampaignStore(installation.toolkit.store, "released-20260131t140000").resolved()
    assert load_spec(campaign.parts[0]).name == "released --set version=4.1.10"


def test_a_campaign_can_follow_the_report_of_another_but_not_its_own(installation: Installation) -> None:
    own = TEXT.replace("asset: database-release", "asset: report-released")
    with pytest.raises(DefinitionError, match="own reports, so that each campaign would begin another one") as caught:
        parse_definition(own, "released.yaml")
    assert "trigger.asset" in str(caught.value)

    installation.write_definition("released", TEXT.replace("asset: database-release", "asset: report-other"))
    told: dict[str, Any] = dict.fromkeys(MARKS_OF_REPORTS, "x")
    published = event(1, **told)
    published.asset.name = published.asset.uri = "report-other"
    asset = Asset("report-other")
    found = newest_event({"inlet_events": Inlets(asset, [published])}, asset, NOON, None)  # type: ignore[typeddict-item]
    assert found is not None
    assert found.extra == {}


def test_a_campaign_of_which_nobody_could_be_told_does_not_begin(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_NOTIFIER", '{"notifier": "nowhere.Nobody"}')
    assert plan(event(1)), "it asks for no notices"
    installation.write_definition("released", f"{TEXT}notify: [regression]\n")
    with pytest.raises(AirflowFailException, match=r"names no notifier: .*nowhere"):
        plan(event(2), hours=2)
    assert len(campaign_ids(installation.toolkit.store)) == 1


def test_definitions_that_follow_each_other_in_a_circle_are_refused_and_one_that_follows_them_is_not(
    installation: Installation,
) -> None:
    follows = {"released": "second", "second": "third", "third": "second", "fourth": "gone", "fifth": "fifth-of-others"}
    for name, followed in follows.items():
        text = TEXT.replace("name: released", f"name: {name}")
        installation.write_definition(name, text.replace("asset: database-release", f"asset: report-{followed}"))

    assert [definition.name for definition in sound_definitions(Settings())] == ["fifth", "fourth", "released"]
    told = [str(problem) for problem in faults(Settings())]
    assert len(told) == 2
    assert "second.yaml, trigger.asset" in told[0]
    assert "second follows third follows second" in told[0]


def test_a_run_that_no_event_began_has_the_defaults(installation: Installation) -> None:
    assert plan() == ["released-20260131t130000__v1-001k-r1"]
    assert CampaignStore(installation.toolkit.store, "released-20260131t130000").declared().title == "Release 4.0.1"


def test_of_very_many_events_the_newest_are_named_and_the_rest_is_counted(installation: Installation) -> None:
    events = [event(minute, version="x" * 900) for minute in range(50)]
    found = newest_event(context(*events), ASSET, NOON, None)
    plain: Any = {"inlet_events": Inlets(ASSET, events)}
    assert newest_event(plain, ASSET, NOON, None) == found, "as in Airflow 3.1"

    assert found is not None
    record = found.record(resolve(read_definition(Settings(), "released")).parameters)
    assert (len(record.skipped), record.more_skipped) == (20, 29)
    assert 100 < len(record.skipped[0].extra) < 400
    assert str(record).endswith(" and 29 earlier ones")
    assert "in place of 49 events before it" in str(record)


def test_of_skipped_events_only_what_fits_parameters_is_told(
    installation: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(event(1, version="5.0.1", token="hunter2", rate="\x1b[2J"), event(2, version="4.1.9"))

    campaign = CampaignStore(installation.toolkit.store, "released-20260131t130000")
    begun = campaign.begun_by(campaign.resolved())
    assert begun is not None
    assert [skipped.extra for skipped in begun.skipped] == ["version 5.0.1"]
    assert "hunter2" not in capsys.readouterr().out


def test_a_killed_plan_neither_loses_its_event_nor_keeps_the_next_try_from_it(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("plimsoll.services.store.campaigns.note_definition", killed)
        with pytest.raises(KeyboardInterrupt):
            plan(event(1, version="4.1.9"))
    campaign = CampaignStore(installation.toolkit.store, "released-20260131t130000")
    assert campaign.begun_by(campaign.resolved()) is not None, "the campaign is there, and so is its event"

    installation.toolkit.store.delete(layout.DEFINITION.key(campaign.campaign_id))
    assert plan(event(1, version="4.1.9")) == ["released-20260131t130000__v1-001k-r1"]


def test_the_gate_of_a_run_with_nothing_to_measure_is_skipped() -> None:
    """It runs after failed tasks too. `next_round` skips itself without a campaign."""
    ti = SimpleNamespace(xcom_pull=lambda task_ids, key: {"measured_by": "released-1"}.get(key) if task_ids else None)
    with pytest.raises(AirflowSkipException, match="released-1 has measured the event"):
        QualityGate(task_id="quality_gate").execute({"ti": ti, "params": {}})  # type: ignore[typeddict-item]


def test_a_run_looks_back_no_further_than_to_its_own_first_event_and_asks_for_a_bounded_number() -> None:
    events = [event(minute) for minute in range(-10, 1500)]
    long_ago = BegunBy(asset=ASSET.name, at=NOON - timedelta(days=90))
    found = newest_event(context(*events), ASSET, NOON, long_ago)
    few = newest_event(context(*events[:15]), ASSET, NOON, long_ago)

    assert found is not None
    assert found.at == NOON + timedelta(minutes=1499)
    assert len(found.skipped) + found.more_skipped == 999
    assert few is not None
    assert len(few.skipped) == 4


@pytest.mark.parametrize("inlets", [[], [Asset("another")]])
def test_a_run_for_an_asset_that_the_definition_names_no_more_fails_and_says_so(
    installation: Installation, inlets: list[Asset]
) -> None:
    with pytest.raises(AirflowFailException, match=r"event of asset 'database-release' began this run, .*`trigger`"):
        Plan(task_id="plan", definition="released", inlets=inlets).execute(context(event(1)))


def test_the_newest_event_counts_and_not_that_of_the_newest_campaign(installation: Installation) -> None:
    """A run that was cleared has the time of its beginning in its campaign's id, and takes what came after that."""
    plan(event(90, version="4.1.2"), hours=2)
    assert plan(event(1), event(180, version="4.1.3"), hours=1) == ["released-20260131t130000__v1-001k-r1"]
    with pytest.raises(AirflowSkipException, match="since campaign released-20260131t130000"):
        plan(event(180, version="4.1.3"), hours=4)


def test_a_message_of_a_queue_gives_its_values_and_is_measured_once_though_it_came_twice(
    installation: Installation,
) -> None:
    first, newer = message(1, "m1", version="4.1.1"), message(2, "m2", version="4.1.2")
    again = message(3, "m1", version="4.1.1")
    assert plan(first, newer, again) == ["released-20260131t130000__v1-001k-r1"]

    campaign = CampaignStore(installation.toolkit.store, "released-20260131t130000")
    begun = campaign.begun_by(campaign.resolved())
    assert begun is not None
    assert (begun.values, begun.message) == ({"version": "4.1.2"}, "m2")
    assert [(skipped.extra, skipped.message) for skipped in begun.skipped] == [("version 4.1.1", "m1")]
    with pytest.raises(AirflowSkipException, match="since campaign released-20260131t130000"):
        plan(message(70, "m1", version="4.1.1"), message(71, "m2", version="4.1.2"), hours=2)
    assert plan(message(72, "m3", version="4.1.2"), hours=3) == ["released-20260131t150000__v1-001k-r1"]


def test_a_message_that_does_not_fit_is_refused_as_other_events_are(installation: Installation) -> None:
    with pytest.raises(
        AirflowFailException, match=r"(?s)12:03:00 UTC.*parameters\.release: there is no such parameter"
    ):
        plan(message(3, "m1", release="4.1.10"))
    odd = event(3)
    odd.extra = {"from_trigger": True, "payload": ["4.1.10"]}
    with pytest.raises(AirflowFailException, match=r"parameters\.payload: there is no such parameter"):
        plan(odd)


@pytest.mark.parametrize("other", [{"asset": "another"}, {"installation": "of-others"}])
def test_events_of_other_assets_and_of_other_airflows_do_not_count(
    installation: Installation, other: Mapping[str, str]
) -> None:
    theirs = BegunBy.model_validate({"asset": ASSET.name, "at": NOON + timedelta(hours=9), **other})
    definition = read_definition(Settings(), "released")
    CampaignStore(installation.toolkit.store, "released-20260131t090000").open(definition, theirs)

    assert plan(event(1)) == ["released-20260131t130000__v1-001k-r1"]
