from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.sections.achieved import achieved_sheet
from plimsoll.report.sections.answer import capacity_sheet, comparisons_sheet
from plimsoll.report.sections.maxima import maxima_sheet


def test_capacities_are_figures_with_what_they_rest_on(demo: Findings) -> None:
    g1, shenandoah = capacity_sheet(demo).frame().to_dict(orient="records")
    assert (g1["variant"], g1["kind"], g1["capacity_ops_s"], g1["next_load_missed"]) == ("g1", "found", 200, 1)
    assert (shenandoah["kind"], shenandoah["capacity_ops_s"]) == ("at-least", 1500)


def test_maxima_and_rates_have_a_row_for_each_load_with_valid_repeats(demo: Findings) -> None:
    assert len(achieved_sheet(demo).frame()) == 4
    table = maxima_sheet(demo).frame()
    assert len(table) == 4 * 5
    assert set(table["percentile"]) == {"p50", "p90", "p99", "p99.9", "maximum"}
    assert (table["low"] <= table["high"]).all()


def test_comparisons_name_their_loads(patchy: Findings, demo: Findings) -> None:
    assert comparisons_sheet(demo).frame()["variant"].tolist() == ["shenandoah"]
    assert comparisons_sheet(patchy).frame().empty
