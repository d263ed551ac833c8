"""From a missed interval in a chart to what coincided with it."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest
from tests.support.campaigns.synthetic import demo_campaign, with_log_lines
from tests.unit.report.pages import rows_of

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.analysis.campaign.misses import WORST
from plimsoll.report.build import attempt_page, figures
from plimsoll.report.charts.theme import LINK, Figure
from plimsoll.report.page import page_html
from plimsoll.report.words.misses import anchor, misses_by_cell, misses_sheet, misses_table

LINE = "node2: WARN GCInspector <G1>"


@pytest.fixture(scope="module")
def findings() -> Findings:
    return analyse(with_log_lines(demo_campaign()))


@pytest.fixture(scope="module")
def drawn(findings: Findings) -> Sequence[Figure]:
    return figures(findings)


def links_of(figure: Figure) -> set[str]:
    rows = csv.DictReader(StringIO(figure.spec["data"]["values"]))
    return {row[LINK] for row in rows} - {""}


def test_the_worst_missed_intervals_are_told_with_host_and_size(demo: Findings) -> None:
    rows = rows_of(misses_table(demo.misses, demo.level))
    values = [float(row["p99.9"].removesuffix(" ms").replace(",", "")) for row in rows]
    assert values == sorted(values, reverse=True)
    assert rows[0]["What touched it"].startswith("stop-the-world pause ")
    assert "(node" in rows[0]["What touched it"]
    assert "<details>" not in rows[0]["What touched it"]


def test_log_lines_stand_at_the_missed_interval_that_they_coincide_with(findings: Findings) -> None:
    first = findings.misses[0]
    lines = pd.DataFrame(
        {
            "start_s": [first.start_s, first.start_s + 1],
            "at_s": 1.0,
            "host": "node2",
            "process": "a",
            "text": ["WARN slow", "INFO x"],
        }
    )
    attempts = tuple(
        replace(one, log_lines=lines) if one.verdict.cell.id == first.cell_id else one for one in findings.data.attempts
    )
    assert analyse(replace(findings.data, attempts=attempts)).misses[0].lines == ("node2: WARN slow",)


def test_an_interval_in_which_nothing_was_answered_is_the_worst(findings: Findings) -> None:
    last = findings.misses[-1]

    def emptied(table: pd.DataFrame) -> pd.DataFrame:
        own = (table["start_s"] == last.start_s) & table["met"].notna()
        return table.assign(judged_ms=table["judged_ms"].mask(own))

    attempts = tuple(
        replace(one, intervals=emptied(one.intervals)) if one.verdict.cell.id == last.cell_id else one
        for one in findings.data.attempts
    )
    worst = analyse(replace(findings.data, attempts=attempts)).misses[0]
    assert (worst.cell_id, worst.start_s) == (last.cell_id, last.start_s)
    assert rows_of(misses_table([worst], findings.level))[0]["p99.9"] == "nothing answered"


def test_every_cell_that_missed_has_some(patchy: Findings) -> None:
    missed = {one.cell.id for one in patchy.cells if one.verdict and one.verdict.levels[0].missed}
    assert missed
    assert set(misses_by_cell(patchy.misses)) == missed
    assert len(misses_sheet(patchy).frame()) == min(WORST, len(patchy.misses))


def test_charts_and_lists_lead_to_rows_with_causes_and_log_lines(findings: Findings, drawn: Sequence[Figure]) -> None:
    page = page_html(findings, drawn)
    anchors = set(re.findall(r'<tr id="(miss-[^"]+)"', page))
    assert anchors == set(map(anchor, findings.misses))
    for kind in ("tracks", "timeline"):
        links = {link for figure in drawn if figure.name.startswith(kind) for link in links_of(figure)}
        assert links, kind
        assert {link.removeprefix("#") for link in links} <= anchors
    below = re.findall(r'<a href="#(miss-[^"]+)"', page)
    assert set(below) == anchors
    assert page.count(LINE.replace("<", "&lt;").replace(">", "&gt;")) == len(anchors)


def test_pictures_have_no_links(demo_figures: Sequence[Figure], demo_files: Mapping[str, bytes]) -> None:
    linked = [figure.name for figure in demo_figures if figure.name.startswith(("tracks", "timeline"))]
    assert any(links_of(figure) for figure in demo_figures if figure.name in linked)
    for name in linked:
        assert b"miss-" not in demo_files[f"charts/{name}.svg"]


@pytest.mark.parametrize("valid", [True, False])
def test_an_attempt_has_a_page_of_all_that_was_collected(findings: Findings, valid: bool) -> None:
    result = findings.decisive["g1"]
    attempt = result.attempts[-1]
    spoilt = replace(attempt, verdict=attempt.verdict.model_copy(update={"valid": valid}))
    alone = attempt_page(findings.data.definition, spoilt, findings.data.generated_at)
    for title in ("Answered (ops/s)", "CPU (%)", "Heap (MiB)", "Stopped (ms)", "Response time by percentile"):
        assert title in alone
    anchors = re.findall(r'<tr id="(miss-[^"]+)"', alone)
    assert anchors
    assert set(re.findall(r'href="#(miss-[^"]+)"', alone)) == set(anchors)
    assert "src=" not in re.sub(r"<script.*?</script>", "", alone, flags=re.DOTALL)
