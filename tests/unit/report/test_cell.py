"""The charts of one attempt."""

from dataclasses import replace

import pandas as pd
import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.findings import Findings
from plimsoll.domain.errors import NotFound
from plimsoll.domain.workload import NamedWorkload
from plimsoll.report.cell import attempt_page, cell_timeline

DATA = campaign_of({"a": {200: "m"}})


def test_the_timeline_is_drawn_in_the_pages_inks(demo: Findings) -> None:
    svg = cell_timeline(demo.definition, demo.data.attempts[0], demo.data.generated_at)
    assert svg.startswith("<svg")
    assert "currentColor" in svg


def test_where_no_interval_was_judged_there_are_no_charts() -> None:
    with pytest.raises(NotFound, match="no judged intervals"):
        attempt_page(DATA.definition, replace(DATA.attempts[0], intervals=pd.DataFrame()), DATA.generated_at)


def test_the_page_names_the_workload_where_there_are_several(demo: Findings) -> None:
    attempt = demo.data.attempts[0]
    named = attempt.verdict.model_copy(update={"cell": attempt.verdict.cell.model_copy(update={"workload": "kv"})})
    two = tuple(NamedWorkload.model_validate({"id": name}) for name in ("kv", "series"))
    definition = demo.definition.model_copy(update={"workloads": two})
    page = attempt_page(definition, replace(attempt, verdict=named), demo.data.generated_at)
    assert f", kv, at {named.cell.load_ops_s:,} ops/s, repeat 1: attempt 1" in page


def test_what_waited_stands_in_strips_and_what_was_not_told_is_left_out(demo: Findings) -> None:
    attempt = demo.data.attempts[0]
    starts = attempt.intervals["start_s"].drop_duplicates()[:3]
    told = {"start_s": starts, "in_flight": [50, 100, 3], "unsent": [0, 500, 0], "behind_s": [0.0, 2.5, 0.0]}
    late = pd.DataFrame(told | {"lag_ms": [0.4, 1.7, None]})
    never = pd.DataFrame(told | {"lag_ms": None})
    pages = [
        attempt_page(demo.definition, replace(attempt, backlog=one), demo.data.generated_at) for one in (late, never)
    ]
    assert ["Backlog (s)" in page for page in pages] == [True, True]
    assert ["Late (ms)" in page for page in pages] == [True, False]
