from tests.support.campaigns.outcomes import campaign_of
from tests.unit.report.pages import rows_of

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.report.sections.pauses import pauses_chart, pauses_sheet, pauses_table


def test_every_variant_and_load_has_a_row_with_units(demo: Findings) -> None:
    rows = rows_of(pauses_table(demo))
    assert [(row["Variant"], row["Load"]) for row in rows[:2]] == [
        ("OpenJDK 11.0.13 G1", "200 ops/s"),
        ("OpenJDK 11.0.13 G1", "1,500 ops/s"),
    ]
    longest = demo.pauses[1].longest_ms
    assert longest is not None
    assert longest.high >= 100  # the planted pause that makes an interval miss
    assert rows[1]["Time in pauses"].endswith(" %")


def test_the_table_has_ranges_as_figures(demo: Findings) -> None:
    table = pauses_sheet(demo).frame()
    assert {"longest_ms_low", "longest_ms_median", "longest_ms_high", "heap_after_bytes_high"} <= set(table.columns)
    assert table["longest_ms_high"].dropna().tolist() == [
        one.longest_ms.high for one in demo.pauses if one.longest_ms is not None
    ]


def test_the_chart_has_stops_and_safepoints_or_is_left_out(demo: Findings) -> None:
    (drawn,) = pauses_chart(demo)
    assert {row["panel"] for row in drawn.spec["data"]["values"]} == {"Longest stop", "Longest time to safepoint"}
    assert pauses_chart(analyse(campaign_of({"a": {1000: "m"}}))) == ()
