"""What the report of a search says of the cells that it left out."""

import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.report.charts.heat_map import heat_map
from plimsoll.report.page import summary_markdown
from plimsoll.report.sections.answer import left_out_table
from plimsoll.report.sections.cells import cells_sheet, cells_table
from plimsoll.report.words.answers import step_sentence, threshold_words
from plimsoll.report.words.capacities import capacity_rows
from plimsoll.report.words.conclusion import conclusion
from plimsoll.report.words.stages import how_cells_were_chosen, what_was_run

OVER = {10_000: "mm", 20_000: "x.", 30_000: ".."}
BEGUN = {10_000: "m.", 20_000: "..", 30_000: ".."}
FAST = {"name": "search", "mode": "fast", "guard": 1}


@pytest.fixture(scope="module")
def searched() -> Findings:
    return analyse(campaign_of({"a": OVER, "b": BEGUN}, strategy="search", control="b"))


def test_it_says_how_much_ran_and_what_decided_the_rest(searched: Findings) -> None:
    table = left_out_table(searched)
    assert [column.heading for column in table.columns[1:4]] == ["Cells run", "May still run", "Not needed"]
    over, begun = table.texts
    assert over[1:] == ["3 of 6", "0", "3", "a-020k-r1 (missed): 3"]
    assert begun[1:] == ["1 of 6", "5", "0", "–"]
    assert what_was_run(searched) == "A search ran 4 of 12 cells; 3 need not run; 5 may still run."
    assert what_was_run(searched) in conclusion(searched)
    assert what_was_run(searched) in summary_markdown(searched)


def test_each_manner_of_searching_says_what_it_can_not_tell(searched: Findings) -> None:
    fast = analyse(campaign_of({"a": OVER}, strategy=FAST))
    assert "would have been met again, is not known" in how_cells_were_chosen(searched)
    assert "at the capacity and at 1 load below it" in how_cells_were_chosen(fast)


def test_a_full_grid_says_nothing_of_it() -> None:
    grid = analyse(campaign_of({"a": OVER}))
    assert (left_out_table(grid).texts, what_was_run(grid), how_cells_were_chosen(grid)) == ([], "", "")
    assert "search" not in conclusion(grid)


def test_a_cell_that_did_not_run_is_never_called_met_or_missed(searched: Findings) -> None:
    spared = {one.cell.id for one in searched.cells if one.decided_by}
    assert spared == {"a-020k-r2", "a-030k-r1", "a-030k-r2"}
    table = cells_table(searched)
    outcomes = {one.cell.id: list(table.cells(one))[1] for one in table.rows}
    assert {outcomes[one].content for one in spared} == {"not needed: a-020k-r1 missed"}
    assert {outcomes[one].style for one in spared} == {"not-needed"}
    frame = cells_sheet(searched).frame().set_index("cell")
    assert set(frame.loc[sorted(spared), "outcome"]) == {"not needed"}
    assert set(frame.loc[sorted(spared), "decided_by"]) == {"a-020k-r1"}
    assert frame.loc["a-010k-r1", "decided_by"] is not frame.loc["a-020k-r2", "decided_by"]


def test_the_heat_map_counts_what_was_left_out_as_such(searched: Findings) -> None:
    rows = {(row["variant"], row["load"]): row for row in heat_map(searched).spec["data"]["values"]}
    assert rows["A", "20k"]["repeats"] == "0/2 met, 1 not needed"
    assert rows["A", "30k"]["repeats"] == "not needed"
    assert "a search left these repeats out; they are neither met nor missed" in heat_map(searched).caption


def test_variants_are_compared_only_where_both_have_cells() -> None:
    found = analyse(
        campaign_of(
            {"a": {10_000: "mm", 20_000: "mm", 30_000: "x."}, "b": {10_000: "mm", 20_000: "x.", 30_000: ".."}},
            strategy="search",
            control="b",
        )
    )
    (compared,) = found.comparisons
    assert compared.loads == (10_000,)


@pytest.mark.parametrize(
    ("loads", "words"),
    [
        ({10_000: "mmmmm", 20_000: "xxxxx"}, "13,600 ops/s (at most 19,100)"),
        ({10_000: "mmmmm", 20_000: "mmmmm"}, "at least 13,900 ops/s"),
        ({10_000: "xxxxx", 20_000: "xxxxx"}, "at most 10,000 ops/s"),
        ({10_000: "m", 20_000: "x"}, "not known"),
        ({10_000: "."}, "–"),
    ],
)
def test_the_load_that_is_met_with_a_chance_stands_beside_the_capacity(loads: dict[int, str], words: str) -> None:
    (row,) = capacity_rows(analyse(campaign_of({"a": loads})))
    assert row.threshold == words


def test_without_a_valid_cell_there_is_no_such_load() -> None:
    assert threshold_words(None) == "–"


def test_one_step_of_load_is_told_to_be_no_change(searched: Findings) -> None:
    words = step_sentence(searched)
    assert words.startswith("A difference of one step of load is no change")
    assert "with 2 repeats, find different capacities in 40 % of cases" in words
    assert words.replace("%", "") in summary_markdown(searched).replace("%", "")
