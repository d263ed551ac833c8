"""What is news in a trend: each change once, whoever is killed, whoever else is at it, and however it moves."""

import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.one_cell import run_cell
from tests.support.campaigns.trend import Steps, capacity, store_figures, store_trend, worst

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.analysis.trend.figures import SeriesKey
from plimsoll.analysis.trend.marks import Remark, TrendMark
from plimsoll.analysis.trend.series import PlacedChange
from plimsoll.domain.text.errors import DamagedRecord
from plimsoll.ports.store import ResultStore
from plimsoll.report.trend.document import TrendDocument
from plimsoll.report.trend.words import state
from plimsoll.services.publish.publishing import publish_report
from plimsoll.services.publish.trend_marks import (
    MARK,
    MOST,
    accept_change,
    add_mark,
    answer_in_short,
    changes_in_short,
    claim_news,
    news,
    stored_marks,
)
from plimsoll.services.publish.trends import stored_trend

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BOTH = ("regression", "improvement")
SLOWER: Steps = [(20, 12), (23, 10)]
FASTER: Steps = [(23, 12), (20, 10)]


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    """Provide an empty store."""
    return ObjectStore(str(tmp_path))


def trend(store: ResultStore) -> TrendDocument:
    return stored_trend(store, ["nightly"], "date", NOW)


def claim(store: ResultStore, effects: Collection[str] = BOTH) -> list[tuple[str, str]]:
    """Return variant and effect of what a task that publishes now would tell."""
    return [(one.variant, one.effect) for one in claim_news(store, trend(store), effects, "nightly-22", NOW)]


def page(campaign_id: str) -> str:
    return f"https://airflow/campaigns/{campaign_id}"


@pytest.mark.parametrize(
    ("key", "steps", "effect"),
    [
        (worst("g1"), SLOWER, "regression"),
        (worst("g1"), FASTER, "improvement"),
        (capacity("g1"), SLOWER, "improvement"),
        (capacity("g1"), FASTER, "regression"),
        (worst("g1"), [(20 * 1.02**n, 1) for n in range(22)], "regression"),
        (capacity("g1"), [(20 * 1.02**n, 1) for n in range(22)], "improvement"),
    ],
)
def test_a_change_or_drift_is_told_by_its_direction_to_those_who_asked(
    store: ObjectStore, key: SeriesKey, steps: Steps, effect: str
) -> None:
    store_trend(store, {key: steps})
    (other,) = {*BOTH} - {effect}
    assert claim(store, [other]) == []
    assert set(claim(store, [effect])) == {("g1", effect)}


def test_a_change_is_told_once_and_each_variant_has_its_own(store: ObjectStore) -> None:
    store_trend(store, {worst("g1"): SLOWER, worst("zgc"): FASTER, worst("cms"): [(9, 22)]})
    assert claim(store) == [("g1", "regression"), ("zgc", "improvement")]
    assert claim(store) == []


def test_an_accepted_change_is_no_news(store: ObjectStore) -> None:
    store_trend(store, {worst("g1"): SLOWER})
    accept_change(store, trend(store), "nightly-13", Remark("a new kernel", "ada", NOW))
    assert claim(store) == []


def test_a_change_that_is_accepted_after_the_trend_was_made_is_no_news(store: ObjectStore) -> None:
    store_trend(store, {worst("g1"): SLOWER})
    found = trend(store)
    accept_change(store, found, "nightly-13", Remark("a new kernel", "ada", NOW))
    assert claim_news(store, found, BOTH, "nightly-22", NOW) == ()


def test_who_is_killed_between_record_and_notice_is_followed_by_no_second_notice(store: ObjectStore) -> None:
    store_trend(store, {worst("g1"): SLOWER})
    found = trend(store)
    claim_news(store, found, BOTH, "nightly-22", NOW)  # and killed
    assert claim_news(store, found, BOTH, "nightly-22", NOW) == ()
    (told,) = stored_marks(store, ["nightly"]).log
    assert (told.kind, told.campaign_id, told.text) == ("told", "nightly-13", "with the report of nightly-22")


class Racing(ObjectStore):
    """A store in which another task tells the same just before the first entry is made."""

    rival: TrendMark | None = None

    def create(self, key: str, data: bytes) -> bool:
        if self.rival and key == MARK.key("", "nightly", 1):
            rival, self.rival = self.rival, None
            add_mark(self, "nightly", rival)
        return super().create(key, data)


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_of_two_tasks_at_once_one_tells_even_if_they_see_the_change_elsewhere(tmp_path: Path, moved: int) -> None:
    store = Racing(str(tmp_path))
    store_trend(store, {worst("g1"): SLOWER})
    (change,) = trend(store).changes
    seen: PlacedChange = change.model_copy(update={"campaign_id": f"nightly-{13 + moved}"})
    store.rival = TrendMark.of_change(seen, None, "told", Remark("with another", "Plimsoll", NOW))
    assert claim(store) == []
    assert [one.text for one in stored_marks(store, ["nightly"]).log] == ["with another"]


class Reading(ObjectStore):
    """A store that counts how many marks are read."""

    reads = 0

    def read(self, key: str) -> bytes:
        self.reads += "/marks/" in key
        return super().read(key)


def test_what_was_told_is_known_from_one_look_at_the_log(tmp_path: Path) -> None:
    store, count = Reading(str(tmp_path)), 10
    store_trend(store, {worst(f"v{n}"): SLOWER for n in range(count)})
    found = trend(store)
    assert len(claim_news(store, found, BOTH, "nightly-22", NOW)) == count
    store.reads = 0
    assert claim_news(store, found, BOTH, "nightly-22", NOW) == ()
    assert store.reads == count


def test_a_mark_that_can_not_be_read_tells_nothing(store: ObjectStore) -> None:
    store_trend(store, {worst("g1"): SLOWER})
    found = trend(store)
    store.write(MARK.key("", "nightly", 1), b"{")
    with pytest.raises(DamagedRecord):
        claim_news(store, found, BOTH, "nightly-22", NOW)


def campaigns_later(store: ObjectStore, levels: Iterator[float], noise: Collection[float]) -> list[tuple[str, str]]:
    """Store a campaign after the other, and return everything that was told on the way."""
    told = []
    for number, (level, factor) in enumerate(zip(levels, noise, strict=False), 1):
        store_figures(store, number, {worst("g1"): level * factor})
        told += claim(store)
    return told


NOISE = [1 + 0.03 * ((7 * n) % 11 - 5) / 5 for n in range(40)]


def test_a_step_is_told_once_while_campaigns_come(store: ObjectStore) -> None:
    levels = (20.0 if n < 15 else 23.0 for n in range(40))
    assert campaigns_later(store, levels, NOISE) == [("g1", "regression")]


def test_a_drift_is_not_told_with_each_campaign(store: ObjectStore) -> None:
    told = campaigns_later(store, (20 * 1.01**n for n in range(40)), NOISE)
    assert {*told} == {("g1", "regression")}
    assert len(told) <= 4


def test_a_second_step_is_told_too(store: ObjectStore) -> None:
    levels = (20.0 if n < 12 else 23.0 if n < 25 else 27.0 for n in range(36))
    assert campaigns_later(store, levels, NOISE) == [("g1", "regression")] * 2


def test_a_notice_names_variant_figure_sizes_campaigns_and_the_page(store: ObjectStore) -> None:
    store_trend(store, {worst("g1"): SLOWER})
    found = trend(store)
    title, text = news(store, found, found.changes, page)
    assert title == "Plimsoll: regression in nightly"
    first, second, third = text.splitlines()
    assert first.startswith("regression: g1 at 400 ops/s: worst interval rose by 1")
    assert "p < 0.001) between nightly-12 and nightly-13; " in first
    assert second == "  https://airflow/campaigns/nightly-13"
    assert third == f"  {store.url('nightly-13/report/report.html')}"


def test_a_notice_of_very_many_changes_names_some(store: ObjectStore) -> None:
    store_trend(store, {worst(f"v{n}"): SLOWER for n in range(MOST + 2)})
    found = trend(store)
    *_, last = lines = news(store, found, found.changes, page)[1].splitlines()
    assert len(lines) == 3 * MOST + 1
    assert last == "and 2 more: plimsoll trend nightly"


def test_the_answer_in_short_is_plain_small_and_has_capacity_and_change(installation: Installation) -> None:
    tools = installation.toolkit
    definition = instant_definition(variants=1, loads=2)
    campaign = installation.open_campaign(definition)
    for cell_id in ("v1-001k-r1", "v1-002k-r1"):
        run_cell(tools, "campaign", cell_id, "owner", print)
    publish_report(tools, "campaign")
    store_trend(tools.store, {worst("v1"): SLOWER, capacity("v1"): FASTER})
    answer = answer_in_short(campaign)
    assert answer["changes"] is None
    answer = {**answer, "changes": changes_in_short(trend(tools.store))}
    assert answer["headline"]
    assert answer["incomplete"] is False
    assert sum(answer["cells"].values()) == 2
    (found,) = answer["capacity"]
    assert {"variant", "kind", "capacity_ops_s", "low_ops_s", "high_ops_s"} == found.keys()
    assert (found["variant"], found["capacity_ops_s"]) == ("v1", 2000)
    (change,) = answer["changes"]
    assert (change["variant"], change["effect"], change["campaign_id"]) == ("v1", "regression", "nightly-13")
    assert {"measure", "before", "after", "ratio", "gradual"} <= change.keys()
    assert json.loads(json.dumps(answer)) == answer


def test_the_answer_in_short_is_bounded(installation: Installation) -> None:
    tools = installation.toolkit
    campaign = installation.open_campaign(instant_definition(variants=1, loads=1))
    rows = [{"variant": f"v{n}", "kind": "none", "capacity_ops_s": None, "threshold": None} for n in range(90)]
    document = {"conclusion": "long " * 1000, "capacity": rows}
    tools.store.write("campaign/report/report.json", json.dumps(document).encode())
    store_trend(tools.store, {worst(f"v{n}"): SLOWER for n in range(30)})
    answer = answer_in_short(campaign)
    assert (len(answer["headline"]), len(answer["capacity"])) == (500, MOST)
    assert len(changes_in_short(trend(tools.store))) == MOST


LATER: Steps = [(20, 17), (23, 5)]


@pytest.mark.parametrize("improvement", [SLOWER, LATER], ids=["at once", "later"])
def test_an_improvement_of_another_figure_hides_no_regression(store: ObjectStore, improvement: Steps) -> None:
    """A capacity that rises is an improvement."""
    store_trend(store, {worst("g1"): SLOWER, capacity("g1"): improvement})
    found = trend(store)
    assert {change.effect for change in found.changes} == set(BOTH)
    assert [change["effect"] for change in changes_in_short(found)] == ["regression"]
    assert state(found) == ("regression: g1", "bad")


def test_a_regression_that_was_mended_since_is_not_the_state(store: ObjectStore) -> None:
    store_trend(store, {worst("g1"): [(20, 12), (23, 10), (18, 10)]})
    found = trend(store)
    assert [change["effect"] for change in changes_in_short(found)] == ["improvement"]
    assert state(found) == ("improvement: g1", "good")


def test_an_improvement_with_one_workload_hides_no_regression_with_another(store: ObjectStore) -> None:
    store_trend(store, {worst("g1"): SLOWER, replace(worst("g1"), workload="kv"): [(23, 17), (20, 5)]})
    assert state(trend(store)) == ("regression: g1", "bad")


def test_of_too_many_changes_regressions_are_told(store: ObjectStore) -> None:
    faster: Steps = [(23, 17), (20, 5)]
    store_trend(store, {worst("g1"): SLOWER, **{worst(f"v{n}"): faster for n in range(MOST)}})
    found = trend(store)
    told = changes_in_short(found)
    assert (len(told), told[-1]["effect"], told[-1]["variant"]) == (MOST, "regression", "g1")
    title, text = news(store, found, found.changes, page)
    assert (title, text.split(":")[0]) == ("Plimsoll: regression and improvement in nightly", "regression")
