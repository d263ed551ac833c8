from dataclasses import replace

import pandas as pd
import pytest

from plimsoll.analysis.coincidence import CAUSES
from plimsoll.report.causes import cause_rows, causes_frame, explained_rows, worst_misses
from plimsoll.report.charts.causes import causes_chart
from plimsoll.report.findings import Findings, analyse


def test_missed_intervals_are_told_with_what_explains_them(demo: Findings) -> None:
    g1, shenandoah = explained_rows(demo)
    missed = demo.causes[0].explained.missed
    assert (g1.variant, g1.missed, g1.any_missed) == ("OpenJDK 11.0.13 G1", str(missed), True)
    assert g1.linked == "0 % (0)"  # six intervals can't tell
    assert (shenandoah.missed, shenandoah.linked, shenandoah.any_missed) == ("0", "–", False)


def test_each_cause_stands_beside_its_base_rate_and_what_is_unknown_is_said(demo: Findings) -> None:
    rows = {row.cause: row for row in cause_rows(demo)}
    pause = rows["stop-the-world pause (≥ 50 ms)"]
    assert pause.missed.startswith("100.0 % of")
    assert pause.base_rate.startswith("0.0 % of")
    assert pause.link == "too few intervals to tell"
    assert rows["disk saturated (≥ 95 %)"].link == "not collected"


def test_the_worst_missed_intervals_are_told_with_host_and_size(demo: Findings) -> None:
    rows = worst_misses(demo)
    values = [float(row.value.removesuffix(" ms").replace(",", "")) for row in rows]
    assert values == sorted(values, reverse=True)
    assert rows[0].causes.startswith("stop-the-world pause ")
    assert "(node" in rows[0].causes


def test_the_table_has_every_cause_of_every_variant(demo: Findings) -> None:
    table = causes_frame(demo)
    assert len(table) == 2 * len(CAUSES)
    pause = table[(table["variant"] == "g1") & (table["cause"] == "stop-the-world pause")]
    assert pause["missed_with_cause"].item() == demo.causes[0].explained.missed


def test_nothing_is_drawn_where_nothing_missed(patchy: Findings, demo: Findings) -> None:
    met = demo.__class__(**{**vars(demo), "causes": demo.causes[1:]})
    assert causes_chart(met) == ()
    (drawn,) = causes_chart(patchy)
    shares = [row["share"] for row in drawn.spec["data"]["values"]]
    assert max(shares) == pytest.approx(100)


def test_log_lines_stand_at_the_missed_interval_that_they_coincide_with(demo: Findings) -> None:
    worst = worst_misses(demo)[0]
    first = next(one for one in demo.data.attempts if one.verdict.cell.id == worst.cell)
    start_s = float(worst.start.removesuffix(" s").replace(",", ""))
    lines = pd.DataFrame(
        {"start_s": [start_s, start_s + 1], "at_s": 1.0, "host": "node2", "text": ["WARN GCInspector", "INFO other"]}
    )
    attempts = tuple(replace(one, log_lines=lines) if one is first else one for one in demo.data.attempts)
    findings = analyse(replace(demo.data, attempts=attempts))
    assert worst_misses(findings)[0].lines == ("node2: WARN GCInspector",)
    assert worst.lines == ()
