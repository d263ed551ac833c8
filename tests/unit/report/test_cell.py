"""The chart of what waited in one attempt."""

from dataclasses import replace

import pandas as pd
import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.domain.errors import NotFound
from plimsoll.report.cell import cell_backlog
from plimsoll.report.charts.backlog import backlog_figure

DATA = campaign_of({"a": {200: "m"}})
BACKLOG = pd.DataFrame(
    {
        "start_s": [0.0, 10.0, 20.0, 30.0],
        "in_flight": [50, 100, 100, 3],
        "unsent": [0, 500, 700, 0],
        "behind_s": [0.0, 2.5, 3.5, 0.0],
        "lag_ms": [0.4, 1.7, None, 0.2],
    }
)


def test_every_interval_has_its_figures_and_what_was_not_told_is_left_out() -> None:
    rows = backlog_figure(DATA.definition, BACKLOG).spec["data"]["values"]
    assert [(row["t"], row["v"]) for row in rows if row["strip"].startswith("Behind")] == [
        (5, 0.0), (15, 2.5), (25, 3.5), (35, 0.0),
    ]  # fmt: skip
    assert [row["v"] for row in rows if row["strip"].startswith("In flight")] == [50, 100, 100, 3]
    assert [row["t"] for row in rows if "lateness" in row["strip"]] == [5, 15, 35]


def test_it_is_drawn_in_the_pages_inks() -> None:
    svg = cell_backlog(DATA.definition, replace(DATA.attempts[0], backlog=BACKLOG))
    assert svg.startswith("<svg")
    assert "currentColor" in svg
    assert "Behind schedule" in svg


def test_where_the_generator_told_nothing_there_is_no_chart() -> None:
    with pytest.raises(NotFound, match="did not tell"):
        cell_backlog(DATA.definition, DATA.attempts[0])
