from collections.abc import Sequence
from dataclasses import replace

from tests.support.campaigns.outcomes import campaign_of
from tests.unit.report.pages import page_of

from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.domain.attempt.result import Check
from plimsoll.report.charts.theme import Figure
from plimsoll.report.sections.validity import validity


def test_invalid_attempts_name_their_reason_and_what_replaced_them(patchy: Findings) -> None:
    retried, invalid = validity(patchy).invalid
    assert (retried.cell, retried.attempt, retried.replaced_by) == ("prime-020k-r1", 1, 2)
    assert (invalid.cell, invalid.attempt, invalid.replaced_by) == ("prime-060k-r2", 1, None)
    assert invalid.reasons == ("node2 was down for 40 s: Connection refused",)


def test_open_cells_are_those_to_run_again(patchy: Findings) -> None:
    assert validity(patchy).open_cells == ("prime-060k-r2", "shenandoah-060k-r3")


def test_equal_warnings_are_told_once_with_all_their_cells() -> None:
    data = campaign_of({"a": {10_000: "mm"}})
    check = Check(name="spread", success=False, severity="warning", expected="small", observed="large")
    attempts = [
        replace(one, verdict=one.verdict.model_copy(update={"warnings": ("clock jumped",), "checks": (check,)}))
        for one in data.attempts
    ]
    warnings = validity(analyse(replace(data, attempts=tuple(attempts)))).warnings
    assert warnings == {
        "clock jumped": ("a-010k-r1", "a-010k-r2"),
        "spread: expected small, observed large": ("a-010k-r1", "a-010k-r2"),
    }


def test_a_sound_campaign_has_nothing_to_report(demo: Findings) -> None:
    found = validity(demo)
    assert (found.invalid, found.not_run, found.superseded, found.open_cells, found.warnings) == ((), (), (), (), {})


def test_lines_of_a_log_in_a_reason_stay_lines(patchy: Findings, patchy_figures: Sequence[Figure]) -> None:
    reason = "node2 was killed:\nits log's last lines:\nINFO  [main] bye"

    def killed(one: AttemptData) -> AttemptData:
        reasons = (reason, "nothing answered")
        return one if one.verdict.valid else replace(one, verdict=one.verdict.model_copy(update={"reasons": reasons}))

    data = replace(patchy.data, attempts=tuple(map(killed, patchy.data.attempts)))
    shown = page_of(analyse(data), patchy_figures)
    assert "node2 was killed:<br>its log&#39;s last lines:<br>INFO  [main] bye<br>nothing answered" in shown
