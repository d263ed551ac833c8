import pytest
from tests.unit.report.pages import rows_of

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.sections.why import causes_chart, causes_sheet, causes_table, explained_table


def test_missed_intervals_are_told_with_what_explains_them(demo: Findings) -> None:
    (g1,) = rows_of(explained_table(demo))
    missed, of_shenandoah = (one.explained.missed for one in demo.causes)
    assert (g1["Variant"], g1["Missed intervals"]) == ("OpenJDK 11.0.13 G1", str(missed))
    assert g1["With a cause linked to misses"] == "0 % (0)"  # six intervals can't tell
    assert of_shenandoah == 0


def test_each_cause_stands_beside_its_base_rate_and_what_is_unknown_is_said(demo: Findings) -> None:
    rows = {row["Cause"]: row for row in rows_of(causes_table(demo))}
    pause = rows["stop-the-world pause (≥ 50 ms)"]
    assert pause["In missed intervals"].startswith("100.0 % of")
    assert pause["In met intervals (base rate)"].startswith("0.0 % of")
    assert pause["Verdict"] == "too few intervals to tell"
    assert rows["disk saturated (≥ 95 %)"]["Verdict"] == "not collected"


def test_the_table_has_every_cause_of_every_variant(demo: Findings) -> None:
    table = causes_sheet(demo).frame()
    assert len(table) == sum(len(one.causes) for one in demo.causes)
    pause = table[(table["variant"] == "g1") & (table["cause"] == "stop-the-world pause")]
    assert pause["missed_with_cause"].item() == demo.causes[0].explained.missed


def test_nothing_is_drawn_where_nothing_missed(patchy: Findings, demo: Findings) -> None:
    met = demo.__class__(**{**vars(demo), "causes": demo.causes[1:]})
    assert causes_chart(met) == ()
    (drawn,) = causes_chart(patchy)
    shares = [row["share"] for row in drawn.spec["data"]["values"]]
    assert max(shares) == pytest.approx(100)
