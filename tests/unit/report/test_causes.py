import pytest

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.charts.causes import causes_chart
from plimsoll.report.sections.why import cause_rows, causes_frame, explained_rows


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


def test_the_table_has_every_cause_of_every_variant(demo: Findings) -> None:
    table = causes_frame(demo)
    assert len(table) == sum(len(one.causes) for one in demo.causes)
    pause = table[(table["variant"] == "g1") & (table["cause"] == "stop-the-world pause")]
    assert pause["missed_with_cause"].item() == demo.causes[0].explained.missed


def test_nothing_is_drawn_where_nothing_missed(patchy: Findings, demo: Findings) -> None:
    met = demo.__class__(**{**vars(demo), "causes": demo.causes[1:]})
    assert causes_chart(met) == ()
    (drawn,) = causes_chart(patchy)
    shares = [row["share"] for row in drawn.spec["data"]["values"]]
    assert max(shares) == pytest.approx(100)
