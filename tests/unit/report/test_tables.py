from dataclasses import replace
from io import BytesIO

import pandas as pd
from rich.console import Console
from tests.support.campaigns.outcomes import campaign_of, with_failed_operations
from tests.unit.report.pages import rows_of

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.report.document import entries_of
from plimsoll.report.sections.achieved import rates_table
from plimsoll.report.sections.cells import cells_sheet, cells_table
from plimsoll.report.sections.maxima import maxima_table
from plimsoll.report.tables import as_csv, as_parquet, for_terminal, plain


def test_the_cells_table_has_a_row_for_every_cell_and_empty_figures_without_a_valid_attempt() -> None:
    frame = cells_sheet(analyse(campaign_of({"a": {10_000: "mxi."}}))).frame().set_index("cell")
    assert list(frame["outcome"]) == ["met", "missed", "invalid", "not run"]
    assert list(frame["worst_to_bound"][:2]) == [0.5, 2.5]
    assert frame.loc["a-010k-r3", ["worst_ms", "achieved_ops_s", "operations"]].isna().all()
    assert frame.loc["a-010k-r3", "reasons"] == "node1 went down"
    assert frame.loc["a-010k-r4", "attempts"] == 0


def test_a_worst_interval_that_missed_by_failed_operations_is_no_exact_figure() -> None:
    findings = analyse(with_failed_operations(campaign_of({"a": {10_000: "mx."}})))
    rows = rows_of(cells_table(findings))
    figures = [(row["Worst interval"], row["Of the bound"]) for row in rows]
    assert figures == [("50 ms", "50.0 %"), ("≥ 250 ms", "≥ 250.0 %"), ("–", "–")]
    assert cells_sheet(findings).frame()["worst_is_floor"].to_list() == [False, True, pd.NA]
    assert [entry.worst_is_floor for entry in entries_of(findings)] == [False, True, False]


def test_maxima_of_reads_and_writes_stand_beside_those_of_all_operations(demo: Findings) -> None:
    frame = cells_sheet(demo).frame()
    assert (frame["reads_p99_9_ms"] > frame["p99_9_ms"]).all()
    assert (frame["writes_p50_ms"] < frame["p50_ms"]).all()


def test_csv_and_parquet_hold_the_same_cells(patchy: Findings) -> None:
    frame = cells_sheet(patchy).frame()
    csv = pd.read_csv(BytesIO(as_csv(frame)), keep_default_na=True)
    parquet = pd.read_parquet(BytesIO(as_parquet(frame)))
    assert list(csv.columns) == list(parquet.columns)
    assert list(csv["cell"]) == list(parquet["cell"]) == [result.cell.id for result in patchy.cells]
    pd.testing.assert_series_equal(csv["worst_ms"], parquet["worst_ms"], check_exact=False)


def test_rows_by_load_count_valid_repeats_and_mark_rates_not_achieved(patchy: Findings) -> None:
    rows = {(row["Variant"], row["Attempted"]): row for row in rows_of(rates_table(patchy))}
    assert rows["Azul Prime 11.0.13 (C4)", "60,000 ops/s"]["Valid"] == "2 of 3 repeats"
    assert all(row["Rate"] == "achieved" for row in rows.values())
    assert len(maxima_table(patchy).columns) == 3 + 5


def test_a_load_without_valid_repeats_has_dashes_not_zeros() -> None:
    findings = analyse(campaign_of({"a": {10_000: "i."}}))
    ((_, _, *texts),) = rates_table(findings).texts
    assert texts[:3] == ["0 of 2 repeats", "–", "–"]
    assert set(maxima_table(findings).texts[0][3:]) == {"–"}


def test_cell_rows_say_which_attempt_counts_and_why_a_cell_missed() -> None:
    rows = rows_of(cells_table(analyse(campaign_of({"a": {10_000: "dei"}}))))
    assert [row["Attempt"] for row in rows] == ["2 of 2", "1 of 1", "none of 1"]
    assert [row["Outcome"] for row in rows] == ["met", "missed (errors)", "invalid"]
    assert [row["Errors"] for row in rows] == ["0", "900", "–"]


def test_figures_of_sliding_windows_are_named_so() -> None:
    verdict = campaign_of({"a": {10_000: "m"}}).attempts[0].verdict
    level = verdict.levels[0]
    sliding = level.service_level.model_copy(update={"windows": "sliding"})
    slid = level.model_copy(update={"service_level": sliding, "judged": 7191, "missed": 3, "worst_ms": 1e6})
    data = campaign_of({"a": {10_000: "m"}})
    attempt = replace(data.attempts[0], verdict=verdict.model_copy(update={"levels": (level, slid)}))
    (row,) = rows_of(cells_table(analyse(replace(data, attempts=(attempt,)))))
    assert row["Missed intervals"] == "3 of 7,191 sliding windows"


def test_a_text_that_a_spreadsheet_would_compute_is_written_as_text() -> None:
    texts = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "G1", None]
    frame = pd.DataFrame({"title": texts, "ms": [-1.5] * len(texts), "at": pd.Timestamp(0, tz="UTC")})
    read = pd.read_csv(BytesIO(as_csv(frame)))
    assert read["title"].tolist()[:6] == ["'=1+1", "'+1", "'-1", "'@SUM(1)", "'\t=1", "G1"]
    assert read["ms"].tolist() == frame["ms"].tolist()


def test_a_terminal_obeys_nothing_in_a_table() -> None:
    evil = "\x1b]0;mine\x07"
    console = Console(width=200)
    with console.capture() as captured:
        console.print(for_terminal(plain(evil, {evil: ""}, [[evil]]), caption="as it is"))
    assert captured.get().count("\\x1b]0;mine\\x07") == 3
    assert not {"\x1b", "\x07"} & set(captured.get())
