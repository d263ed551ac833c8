from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.sections.validity import checks_sheet, invalid_sheet, validity, warnings_sheet
from plimsoll.report.sections.why import causes_by_cell_sheet, causes_sheet, explained_sheet
from plimsoll.report.words.environment_facts import environment, environment_sheet
from plimsoll.report.words.misses import causes, misses_sheet


def test_every_fact_of_the_environment_is_listed_with_how_it_varies(patchy: Findings) -> None:
    ran = environment(patchy)
    frame = environment_sheet(patchy).frame().set_index("found")
    assert set(frame.loc[["equal"], "fact"]) == set(ran.equal)
    assert set(frame.loc[["by variant"], "fact"]) == set(ran.by_variant)
    odd = frame.loc[["deviating"]]
    expected = [(one.fact, value) for one in ran.deviations for value in one.others]
    assert list(zip(odd["fact"], odd["value"], strict=True)) == expected
    assert all("shenandoah-020k-r2" in where for where in odd["where"])


def test_invalid_attempts_are_listed_with_their_reasons_and_data_docs(patchy: Findings) -> None:
    frame = invalid_sheet(patchy).frame()
    assert list(zip(frame["cell"], frame["attempt"], strict=True)) == [("prime-020k-r1", 1), ("prime-060k-r2", 1)]
    assert frame["replaced_by"].fillna(0).tolist() == [2, 0]
    assert frame["data_docs"][0] == "../cells/prime-020k-r1/1/quality/index.html"


def test_warnings_and_checks_are_listed(demo: Findings, patchy: Findings) -> None:
    assert len(checks_sheet(patchy).frame()) == len(patchy.data.quality) > 0
    assert len(warnings_sheet(patchy).frame()) == sum(map(len, validity(patchy).warnings.values()))
    assert list(warnings_sheet(demo).frame().columns) == ["cell", "warning"]


def test_what_is_known_of_misses_adds_up_by_cell(demo: Findings) -> None:
    known = explained_sheet(demo).frame()
    whole, cells = known[known["cell"] == ""], known[known["cell"] != ""]
    assert cells["missed"].sum() == whole["missed"].sum() > 0
    parts = whole["linked"] + whole["coincident"] + whole["nothing"] + whole["unknown"]
    assert (parts == whole["missed"]).all()


def test_causes_by_cell_add_up_to_those_of_their_variant(demo: Findings) -> None:
    by_cell, by_variant = causes_by_cell_sheet(demo).frame(), causes_sheet(demo).frame()
    assert not by_cell.empty
    sums = by_cell.assign(variant=by_cell["cell"].str.split("-").str[0]).groupby(["variant", "cause"])
    counts = by_variant.set_index(["variant", "cause"])["missed_with_cause"]
    assert all(counts[place] == rows["missed_with_cause"].sum() for place, rows in sums)


def test_the_worst_misses_are_those_of_the_page(demo: Findings) -> None:
    frame = misses_sheet(demo).frame()
    assert list(zip(frame["cell"], frame["causes"], strict=True)) == [
        (one.cell_id, causes(one)) for one in demo.misses[:20]
    ]
    assert frame["judged_ms"].is_monotonic_decreasing


def test_the_worst_misses_are_the_worst_of_all_cells(demo: Findings) -> None:
    every = [
        value
        for result in demo.cells
        if result.counted
        for value in result.counted.intervals.loc[result.counted.intervals["met"].eq(False), "judged_ms"]
    ]
    shown = misses_sheet(demo).frame()["judged_ms"].tolist()
    assert shown == sorted(every, reverse=True)[: len(shown)]
    assert len(shown) == min(20, len(every))
