"""Baselines and accepted changes: what they do to a trend, and that they are found again as campaigns come."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.campaigns.trend import Steps, store_trend, worst
from typer.testing import CliRunner, Result

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.analysis.trend.figures import SeriesKey
from plimsoll.analysis.trend.marks import Marks, Remark, TrendMark
from plimsoll.cli import cli
from plimsoll.domain.text.errors import Refused
from plimsoll.report.trend.document import TrendDocument
from plimsoll.report.trend.words import badge, changes_table, sentences, state, summary
from plimsoll.services.publish.trend_marks import (
    MARK,
    accept_change,
    add_mark,
    mark_baseline,
    name_of_change,
    stored_marks,
)
from plimsoll.services.publish.trends import FIGURES, stored_trend
from plimsoll.services.store.judged import unmark_in_trends

NOW = datetime(2026, 3, 1, tzinfo=UTC)
STEP: Steps = [(20, 12), (23, 10)]


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    """Provide a store of campaigns of which g1 becomes slower with the 13th."""
    store = ObjectStore(str(tmp_path))
    store_trend(store, {worst("g1"): STEP, worst("zgc"): [(9, 22)]})
    return store


def trend(store: ObjectStore) -> TrendDocument:
    return stored_trend(store, ["nightly"], "date", NOW)


def said(text: str, by: str = "ada") -> Remark:
    return Remark(text, by, NOW)


def test_an_accepted_change_is_shown_as_accepted_and_is_no_news(store: ObjectStore) -> None:
    assert state(trend(store)) == ("regression: g1", "bad")
    accept_change(store, trend(store), "nightly-13", said("a new kernel"))
    found = trend(store)
    (change,) = found.changes
    assert change.accepted is not None
    assert (change.accepted.text, change.accepted.by) == ("a new kernel", "ada")
    (told,) = sentences(found)
    assert told.endswith("; accepted by ada on 2026-03-01: a new kernel")
    assert "1 change (1 accepted) in" in summary(found)
    assert state(found) == ("no change", "good")
    assert b"no change" in badge(found)
    assert TrendDocument.model_validate_json(found.model_dump_json()) == found


def test_an_acceptance_is_taken_back(store: ObjectStore) -> None:
    accept_change(store, trend(store), "nightly-13/g1", said("a new kernel"))
    accept_change(store, trend(store), "nightly-13/g1", said(""))
    assert [one.accepted for one in trend(store).changes] == [None]
    assert [mark.text for mark in stored_marks(store, ["nightly"]).log] == ["a new kernel", ""]


@pytest.mark.parametrize("named", ["nightly-5", "nightly-13/zgc", "none"])
def test_what_is_no_change_is_refused_with_those_that_are(store: ObjectStore, named: str) -> None:
    with pytest.raises(Refused, match=r"the trend has: nightly-13/g1"):
        accept_change(store, trend(store), named, said("?"))


@pytest.mark.parametrize(("moved", "is_accepted"), [(-3, False), (-2, True), (2, True), (3, False)])
def test_a_change_that_moves_by_at_most_two_campaigns_stays_accepted(
    store: ObjectStore, moved: int, *, is_accepted: bool
) -> None:
    (change,) = trend(store).changes
    elsewhere = {"campaign_id": f"nightly-{13 + moved}", "previous_campaign_id": f"nightly-{12 + moved}"}
    mark = TrendMark.of_change(change.model_copy(update=elsewhere), None, "accepted", said("a new kernel"))
    add_mark(store, "nightly", mark)
    assert [one.accepted is not None for one in trend(store).changes] == [is_accepted]


def test_a_change_whose_campaign_was_deleted_stays_accepted(store: ObjectStore) -> None:
    accept_change(store, trend(store), "nightly-13", said("a new kernel"))
    store.delete("nightly-13")
    (change,) = trend(store).changes
    assert change.accepted is not None


@pytest.mark.parametrize("other", [{"variant": "zgc"}, {"effect": "improvement"}, {"workload": "reads"}])
def test_a_mark_on_something_else_is_on_no_other_change(store: ObjectStore, other: dict[str, str]) -> None:
    (change,) = trend(store).changes
    add_mark(store, "nightly", TrendMark.of_change(change.model_copy(update=other), None, "accepted", said("?")))
    assert [one.accepted for one in trend(store).changes] == [None]


def test_changes_are_sought_from_the_newest_baseline_on(store: ObjectStore) -> None:
    for campaign_id in ("nightly-14", "nightly-13"):
        mark_baseline(store, trend(store), campaign_id, said("new hosts"))
    found = trend(store)
    assert found.changes == ()
    assert summary(found).endswith("; sought from the baseline nightly-14 on, set by ada on 2026-03-01: new hosts")
    (series, _) = found.series
    assert (series.searched_from, len(series.points), series.enough) == (13, 22, True)
    assert [row[:3] for row in changes_table(series).texts] == [
        ["nightly-1", "nightly-13", "13"],
        ["nightly-14", "nightly-22", "9"],
    ]
    mark_baseline(store, found, "nightly-14", said(""))
    assert trend(store).series[0].searched_from == 12
    mark_baseline(store, trend(store), "nightly-13", said(""))
    assert len(trend(store).changes) == 1


def test_a_change_after_a_baseline_stands_at_its_own_campaign(store: ObjectStore) -> None:
    mark_baseline(store, trend(store), "nightly-5", said("new hosts"))
    found = trend(store)
    assert [one.campaign_id for one in found.changes] == ["nightly-13"]
    assert found.series[0].change_points[0].index == 12
    assert [(start, end) for start, end, _ in found.series[0].levels] == [(0, 4), (4, 12), (12, 22)]


def test_too_few_campaigns_after_a_baseline_are_said_to_be_too_few(store: ObjectStore) -> None:
    mark_baseline(store, trend(store), "nightly-20", said("new hosts"))
    assert not any(one.enough for one in trend(store).series)


@pytest.mark.parametrize("text", [" ", "\n\t"])
def test_a_reason_of_blanks_is_refused_and_takes_nothing_back(store: ObjectStore, text: str) -> None:
    accept_change(store, trend(store), "nightly-13", said("a new kernel"))
    with pytest.raises(Refused, match="blanks"):
        accept_change(store, trend(store), "nightly-13", said(text))
    with pytest.raises(Refused, match="blanks"):
        mark_baseline(store, trend(store), "nightly-13", said(text))
    (change,) = trend(store).changes
    assert change.accepted is not None


def test_a_campaign_outside_the_trend_is_no_baseline(store: ObjectStore) -> None:
    with pytest.raises(Refused, match="is not in the trend"):
        mark_baseline(store, trend(store), "hourly-1", said("new hosts"))


def test_of_two_who_add_a_mark_at_once_the_second_looks_again(store: ObjectStore) -> None:
    (change,) = trend(store).changes
    seen: list[int] = []

    def mark(by: str) -> TrendMark:
        return TrendMark.of_change(change, None, "told", said("", by))

    def is_there(marks: Marks) -> bool:
        seen.append(len(marks.log))
        if not marks.log:
            MARK.create(store, "", mark("the other"), "nightly", 1)  # between the look and the entry
        return bool(marks.log)

    assert add_mark(store, "nightly", mark("ada"), is_there) is False
    assert seen == [0, 1]
    assert [one.by for one in stored_marks(store, ["nightly"]).log] == ["the other"]


def plimsoll(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["trend", "nightly", *arguments])


@pytest.mark.parametrize(
    ("options", "changes"), [(["--accept", "nightly-13"], ["a reason"]), (["--baseline", "nightly-14"], [])]
)
def test_marks_are_set_and_taken_back_by_options(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch, options: Sequence[str], changes: Sequence[str]
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", store.root)
    marked = json.loads(plimsoll(*options, "a reason", "--json").stdout)
    assert [one["accepted"]["text"] for one in marked["changes"]] == changes
    taken_back = json.loads(plimsoll(*options, "", "--json").stdout)
    assert [one.get("accepted") for one in taken_back["changes"]] == [None]


def test_a_mark_on_an_earlier_change_of_the_same_series_is_on_no_later_one(tmp_path: Path) -> None:
    store = ObjectStore(str(tmp_path / "two"))
    store_trend(store, {worst("g1"): [(20, 12), (23, 10), (27, 10)]})
    accept_change(store, trend(store), "nightly-13", said("a new kernel"))
    assert [(one.campaign_id, one.accepted is not None) for one in trend(store).changes] == [
        ("nightly-13", True),
        ("nightly-23", False),
    ]


def test_a_name_that_several_changes_share_accepts_none_of_them(tmp_path: Path) -> None:
    store = ObjectStore(str(tmp_path / "several"))
    reads, writes = (SeriesKey("worst_interval_ms", "", name, "g1", load_ops_s=400) for name in ("reads", "writes"))
    store_trend(store, {reads: STEP, writes: STEP, worst("zgc"): STEP})
    found = trend(store)
    names = [name_of_change(found, one) for one in found.changes]
    assert sorted(names) == ["nightly-13/g1/reads", "nightly-13/g1/writes", "nightly-13/zgc"]
    for ambiguous in ("nightly-13", "nightly-13/g1"):
        with pytest.raises(Refused, match=r"may be any of \d \(name one of: nightly-13/g1/reads"):
            accept_change(store, found, ambiguous, said("a new kernel"))
    accept_change(store, found, "nightly-13/g1/reads", said("a new kernel"))
    assert [one.workload for one in trend(store).changes if one.accepted] == ["reads"]


def test_a_baseline_whose_campaign_was_deleted_stays_where_it_was(store: ObjectStore) -> None:
    mark_baseline(store, trend(store), "nightly-13", said("new hosts"))
    store.delete("nightly-13")
    found = trend(store)
    assert found.changes == ()
    assert found.series[0].points[found.series[0].searched_from].campaign_id == "nightly-14"
    (gone,) = found.left_out
    assert (gone.campaign_id, "new hosts" in gone.why) == ("nightly-13", True)
    assert gone.baseline is not None
    mark_baseline(store, found, "nightly-13", said(""))
    assert len(trend(store).changes) == 1
    assert trend(store).left_out == ()


def make_anew(store: ObjectStore, campaign_id: str) -> None:
    """Let another campaign have that id, which began after all others."""
    made = FIGURES.read(store, campaign_id)
    assert made is not None
    later = made.campaign.model_copy(update={"began_at": NOW})
    FIGURES.write(store, campaign_id, made.model_copy(update={"campaign": later}))
    unmark_in_trends(store, campaign_id)


def test_a_campaign_that_was_made_anew_is_no_baseline(store: ObjectStore) -> None:
    mark_baseline(store, trend(store), "nightly-13", said("new hosts"))
    make_anew(store, "nightly-13")
    found = trend(store)
    assert (found.campaigns[-1].campaign_id, found.campaigns[-1].baseline) == ("nightly-13", None)
    assert found.series[0].searched_from == 12


def test_a_campaign_that_was_made_anew_inherits_no_mark_on_a_change(store: ObjectStore) -> None:
    (change,) = trend(store).changes
    began_at = datetime(2025, 12, 1, tzinfo=UTC)
    mark = TrendMark.of_change(
        change.model_copy(update={"previous_campaign_id": "gone"}), began_at, "accepted", said("an earlier kernel")
    )
    add_mark(store, "nightly", mark)
    assert [one.accepted for one in trend(store).changes] == [None]


@pytest.mark.parametrize("names", [("nightly", "hourly"), ("hourly", "nightly")])
def test_of_marks_of_several_definitions_the_newest_counts(store: ObjectStore, names: Sequence[str]) -> None:
    began_at = next(one.began_at for one in trend(store).campaigns if one.campaign_id == "nightly-13")
    for hours, name, text in ((0, "nightly", "new hosts"), (1, "hourly", "")):
        remark = Remark(text, "ada", NOW + timedelta(hours=hours))
        add_mark(store, name, TrendMark.of_campaign("nightly-13", began_at, remark))
    assert stored_marks(store, names).baselines() == {}
