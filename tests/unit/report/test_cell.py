"""The charts of one attempt."""

import csv
import re
from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.keys.workload import NamedWorkload
from plimsoll.domain.text.errors import NotFound
from plimsoll.report.build import attempt_page, cell_timeline
from plimsoll.report.charts.strips import strip_chart

DATA = campaign_of({"a": {200: "m"}})


def test_the_timeline_is_drawn_in_the_pages_inks(demo: Findings) -> None:
    svg = cell_timeline(demo.data.definition, demo.data.attempts[0], demo.data.generated_at)
    assert svg.startswith("<svg")
    assert "currentColor" in svg


def test_as_a_picture_the_timeline_has_an_ink_that_is_seen_in_light_and_in_dark(demo: Findings) -> None:
    svg = cell_timeline(demo.data.definition, demo.data.attempts[0], demo.data.generated_at)
    assert re.match(r"<svg[^>]*><style>svg \{ color: #14202b \} @media \(prefers-color-scheme: dark\)", svg)


def test_strips_reach_to_the_last_interval_and_none_has_a_single_point(demo: Findings) -> None:
    attempt = demo.data.attempts[0]
    late = attempt.intervals.assign(start_s=attempt.intervals["start_s"] + 30.0)
    one_sample = attempt.activity.iloc[:1].assign(start_s=late["start_s"].iloc[0])
    figure = strip_chart(demo, replace(attempt, intervals=late, activity=one_sample), name="tracks", title="", links={})
    rows = list(csv.DictReader(StringIO(figure.spec["data"]["values"])))
    assert {row["track"] for row in rows} == {"ms", "rate"}
    ends = {strip["layer"][0]["encoding"]["x"]["scale"]["domain"][1] for strip in figure.spec["vconcat"]}
    assert ends == {max(float(row["t"]) for row in rows)}
    assert min(ends) > demo.data.definition.timing.duration.total_seconds()


def test_where_no_interval_was_judged_there_are_no_charts() -> None:
    with pytest.raises(NotFound, match="no judged intervals"):
        attempt_page(DATA.definition, replace(DATA.attempts[0], intervals=pd.DataFrame()), DATA.generated_at)


def test_the_page_names_the_workload_where_there_are_several(demo: Findings) -> None:
    attempt = demo.data.attempts[0]
    named = attempt.verdict.model_copy(update={"cell": attempt.verdict.cell.model_copy(update={"workload": "kv"})})
    two = tuple(NamedWorkload.model_validate({"id": name}) for name in ("kv", "series"))
    definition = demo.data.definition.model_copy(update={"workloads": two})
    page = attempt_page(definition, replace(attempt, verdict=named), demo.data.generated_at)
    assert f", kv, at {named.cell.load_ops_s:,} ops/s, repeat 1: attempt 1" in page


def test_what_waited_stands_in_strips_and_what_was_not_told_is_left_out(demo: Findings) -> None:
    attempt = demo.data.attempts[0]
    starts = attempt.intervals["start_s"].drop_duplicates()[:3]
    columns = {"start_s": starts, "in_flight": [50, 100, 3], "unsent": [0, 500, 0], "behind_s": [0.0, 2.5, 0.0]}
    late = pd.DataFrame(columns | {"lag_ms": [0.4, 1.7, None]})
    never = pd.DataFrame(columns | {"lag_ms": None})
    pages = [
        attempt_page(demo.data.definition, replace(attempt, backlog=one), demo.data.generated_at)
        for one in (late, never)
    ]
    assert ["Backlog (s)" in page for page in pages] == [True, True]
    assert ["Late (ms)" in page for page in pages] == [True, False]
