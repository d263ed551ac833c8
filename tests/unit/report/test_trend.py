"""The trend over synthetic campaigns, of which one variant becomes slower after the 20th of 30."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from tests.support.campaigns.synthetic import GENERATED_AT
from tests.unit.report.planted import CAPACITIES, LOADS, definition, plain

from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.analysis.trend.figures import CampaignFigures
from plimsoll.analysis.trend.marks import Marks, Remark, TrendMark
from plimsoll.analysis.trend.series import Order
from plimsoll.domain.hosts.fingerprint import Fingerprint
from plimsoll.domain.keys.variant import Archive
from plimsoll.report.trend.document import StoredResults, TrendDocument, contribution, trend_document
from plimsoll.report.trend.page import trend_html
from plimsoll.report.trend.words import (
    badge,
    changes_table,
    markdown_line,
    name_of,
    of_figure,
    otava_csv,
    sentences,
    summary,
)

STEP = 20


def stored(number: int, factor: float = 1.0, kernel: str = "6.1", **changes: Any) -> CampaignFigures:
    return contribution(results(number, factor, kernel, **changes))


def results(number: int, factor: float = 1.0, kernel: str = "6.1", **changes: Any) -> StoredResults:
    """Return a campaign with every worst interval of g1 that many times as long, with noise of 3 %."""
    random = np.random.default_rng(number)

    def scaled(attempt: AttemptData) -> AttemptData:
        verdict, noise = attempt.verdict, float(np.exp(random.normal(0, 0.03)))
        longer = noise * (factor if verdict.cell.variant == "g1" else 1)
        levels = tuple(one.model_copy(update={"worst_ms": (one.worst_ms or 0) * longer}) for one in verdict.levels)
        began = {"levels": levels, "started_at": GENERATED_AT + timedelta(days=number)}
        nodes = tuple(
            one.model_copy(update={"facts": one.facts.model_copy(update={"kernel": kernel})})
            for one in attempt.fingerprint.nodes
        )
        fingerprint = attempt.fingerprint.model_copy(update={"nodes": nodes})
        verdict = verdict.model_copy(update=began)
        return replace(attempt, verdict=verdict, fingerprint=fingerprint, jvms=pd.DataFrame())

    declared = definition().model_copy(update=changes)
    made = plain(1)
    data = replace(made, campaign_id=f"azul-{number}", definition=declared, attempts=tuple(map(scaled, made.attempts)))
    return StoredResults(data, (data,), GENERATED_AT, "0.1.0")


@cache
def thirty() -> tuple[CampaignFigures, ...]:
    return tuple(
        stored(n, 1.15 if n > STEP else 1.0, "6.8" if n > STEP else "6.1", label=f"build {31 - n}")
        for n in range(1, 31)
    )


@cache
def trend(order: Order = "date") -> TrendDocument:
    return trend_document(["azul"], thirty(), (), order)


def test_exactly_the_planted_step_is_found() -> None:
    found = trend()
    assert [(one.variant, one.previous_campaign_id, one.campaign_id, one.effect) for one in found.changes] == [
        ("g1", "azul-20", "azul-21", "regression")
    ]
    changed = {(one.variant, one.measure) for one in found.series if one.change_points}
    assert changed == {("g1", "worst_interval_ms")}
    assert {one.variant for one in found.series} == CAPACITIES.keys()
    loads = {one.load_ops_s for one in found.series if one.measure == "worst_interval_ms"}
    assert loads == {int(one.removesuffix("/s")) for one in LOADS}
    (at,) = next(one for one in found.series if one.change_points).change_points
    assert at.ratio == pytest.approx(1.15, abs=0.03)


def test_every_measure_of_the_campaigns_is_followed() -> None:
    made = StoredResults(plain(1), (plain(1),), GENERATED_AT, "0.1.0")
    found = trend_document(["azul"], [contribution(made)], (), "date")
    measures = {one.measure for one in found.series}
    assert measures == {"worst_interval_ms", "achieved_ops_s", "capacity_ops_s", "longest_pause_ms", "paused_share"}


def test_a_point_has_the_range_over_repeats_and_the_margin() -> None:
    worst = next(one for one in trend().series if one.measure == "worst_interval_ms")
    point = worst.points[0]
    assert point.low <= point.value <= point.high
    bound_ms = definition().service_levels[0].bound_ms
    assert point.to_bound == pytest.approx(point.value / bound_ms)


def test_a_sentence_says_what_changed_and_what_else() -> None:
    (told,) = sentences(trend())
    assert told.startswith("g1 at ")
    assert "worst interval rose by 1" in told
    assert "p < 0.001) between azul-20 and azul-21" in told
    assert told.endswith("what also changed: kernel 6.1 → 6.8")
    assert told in markdown_line(trend()).replace("\\", "")
    assert summary(trend()).startswith("azul: 1 change in ")


def test_what_a_campaign_contributes_is_read_back_as_it_was_written() -> None:
    assert CampaignFigures.model_validate_json(stored(1).model_dump_json()) == stored(1)


def test_the_document_is_read_back_as_it_was_written() -> None:
    assert TrendDocument.model_validate_json(trend().model_dump_json()) == trend()


def test_campaigns_by_label_are_in_its_order() -> None:
    found = trend("label")
    assert [one.label for one in found.campaigns][:2] == ["build 1", "build 2"]
    assert [(one.previous_campaign_id, one.campaign_id, one.effect) for one in found.changes] == [
        ("azul-21", "azul-20", "improvement")
    ]


def test_campaigns_without_a_label_are_left_out_by_name() -> None:
    found = trend_document(["azul"], [stored(1, label="a"), stored(2)], (), "label")
    assert [one.campaign_id for one in found.campaigns] == ["azul-1"]
    assert [(one.campaign_id, one.why) for one in found.left_out] == [("azul-2", "it has no label")]


def test_what_did_not_ask_the_same_as_the_last_campaign_is_left_out_by_name() -> None:
    other = definition(workload={"read_share": 0.5}).workload
    found = trend_document(["azul"], [stored(1, workload=other), stored(2), stored(3)], (), "date")
    assert [one.campaign_id for one in found.campaigns] == ["azul-2", "azul-3"]
    (left,) = found.left_out
    assert left.campaign_id == "azul-1"
    assert "azul-3: workload.read_share 0.5, there" in left.why


def test_a_changed_setting_is_named_as_one() -> None:
    def slower(n: int) -> CampaignFigures:
        settings = {"settings": {"concurrent_reads": 16}} if n > 6 else {}
        variants = tuple(one.model_copy(update=settings) for one in definition().variants)
        return stored(n, 1.3 if n > 6 else 1.0, variants=variants)

    (told,) = sentences(trend_document(["azul"], [slower(n) for n in range(1, 13)], (), "date"))
    assert "what also changed: definition: settings.concurrent_reads (not told) → 16" in told


def test_another_build_of_the_same_release_is_named_once() -> None:
    def slower(n: int) -> CampaignFigures:
        archive = Archive(url=f"s3://builds/{'new' if n > 6 else 'old'}/cassandra.tar.gz", sha256=f"{n // 7}" * 64)
        variants = tuple(one.model_copy(update={"archive": archive}) for one in definition().variants)
        made = results(n, 1.3 if n > 6 else 1.0, variants=variants)
        attempts = tuple(replace(one, fingerprint=built_from(one.fingerprint, archive)) for one in made.data.attempts)
        data = replace(made.data, attempts=attempts)
        return contribution(replace(made, data=data, parts=(data,)))

    (told,) = sentences(trend_document(["azul"], [slower(n) for n in range(1, 13)], (), "date"))
    before, after = (f"cassandra.tar.gz, sha256 {digit * 64}" for digit in "01")
    assert told.endswith(f"what also changed: archive {before} → {after}")


def built_from(fingerprint: Fingerprint | None, archive: Archive) -> Fingerprint:
    assert fingerprint is not None
    nodes = tuple(one.model_copy(update={"archive": str(archive)}) for one in fingerprint.nodes)
    return fingerprint.model_copy(update={"nodes": nodes})


def test_the_table_of_a_series_has_a_row_for_each_level() -> None:
    one = next(one for one in trend().series if one.change_points)
    first, second = changes_table(one).texts
    assert (first[:3], second[:3]) == (["azul-1", "azul-20", "20"], ["azul-21", "azul-30", "10"])
    assert second[4].startswith("+1")
    assert second[5] == "< 0.001"


def columns(found: TrendDocument) -> pd.DataFrame:
    return pd.read_csv(BytesIO(otava_csv(found)))


def test_the_csv_has_a_row_for_each_campaign_and_a_column_for_each_series() -> None:
    rows = columns(trend())
    assert list(rows.columns[:2]) == ["time", "campaign"]
    assert len(rows) == 30
    assert len(rows.columns) == 2 + len(trend().series)
    assert rows["time"][0] == "2026-03-02 12:00:00 +0000"
    assert "g1.20000.worst_interval_ms" in rows.columns


def test_a_gap_in_the_csv_is_filled_as_otava_fills_gaps() -> None:
    gone = results(2)
    few = replace(gone.data, attempts=gone.data.attempts[:1])
    lacking = contribution(StoredResults(few, (few,), GENERATED_AT, "0"))
    found = trend_document(["azul"], [stored(1), lacking, stored(3)], (), "date")
    rows = columns(found)
    assert not rows.isna().any(axis=None)
    filled = "zgc.20000.worst_interval_ms"
    assert rows[filled][1] == rows[filled][0]


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ([1.0] * 5 + [1.3] * 7, "regression: g1"),
        ([1.3] * 5 + [1.0] * 7, "improvement: g1"),
        ([1.0] * 12, "no change"),
        ([1.0] * 2, "too few campaigns"),
    ],
)
def test_the_badge_tells_the_newest_changes(factors: Sequence[float], says: str) -> None:
    found = trend_document(["azul"], [stored(n, one) for n, one in enumerate(factors, 1)], (), "date")
    drawn = ElementTree.fromstring(badge(found))
    assert drawn.attrib["aria-label"] == f"trend of azul: {says}"


def test_a_slow_drift_is_told_as_a_drift() -> None:
    found = trend_document(["azul"], [stored(n, 1.02**n) for n in range(1, 25)], (), "date")
    assert all("drifted up" in one for one in sentences(found))
    assert found.changes


def test_the_page_loads_nothing_and_has_a_chart_of_each_series() -> None:
    found = trend_document(["azul"], [stored(n, 1.3 if n > 5 else 1.0) for n in range(1, 11)], (), "date")
    page = trend_html(found).decode()
    assert page.count('<figure class="chart"') == sum(one.enough for one in found.series)
    for one in found.series:
        assert name_of(one) in page
    assert not re.search(r'(src|href)="(?!#)', page.partition('id="chart-config"')[0])


def baseline(number: int, day: int) -> TrendMark:
    remark = Remark(f"reason {number}", "ann", GENERATED_AT + timedelta(days=100 + day))
    return TrendMark.of_campaign(f"azul-{number}", GENERATED_AT + timedelta(days=number), remark)


def test_the_summary_names_where_changes_are_sought_from_when_the_newestbaseline_is_gone() -> None:
    left = [one for one in thirty() if one.campaign_id != "azul-15"]
    found = trend_document(["azul"], left, (), "date", Marks((baseline(5, 0), baseline(15, 1))))
    assert {one.points[one.searched_from].campaign_id for one in found.series} == {"azul-16"}
    assert "from the baseline azul-5 on" not in summary(found)
    assert "azul-16" in summary(found)


def with_version(figures: CampaignFigures, version: str) -> CampaignFigures:
    parts = [
        part.model_copy(
            update={
                "variants": {
                    name: variant.model_copy(update={"version": version}) for name, variant in part.variants.items()
                }
            }
        )
        for part in figures.parts
    ]
    return figures.model_copy(update={"parts": tuple(parts)})


def test_the_summary_by_version_names_the_baseline_that_counts() -> None:
    marks = Marks((baseline(5, 0), baseline(15, 1)))
    assert "from the baseline azul-15 on" in summary(trend_document(["azul"], thirty(), (), "date", marks))
    released = [with_version(one, "5.0.0" if number <= 10 else "4.0.1") for number, one in enumerate(thirty(), 1)]
    found = trend_document(["azul"], released, (), "version", marks)
    assert {one.points[one.searched_from].campaign_id for one in found.series} == {"azul-5"}
    assert "from the baseline azul-5 on" in summary(found)


def test_a_small_share_of_time_is_not_shown_as_none() -> None:
    assert of_figure("paused_share", 0.000012) == "0.0012 %"
    assert of_figure("paused_share", 0.0312) == "3.12 %"
