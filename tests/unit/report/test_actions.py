"""The section about what was done to clusters under load, and its figures in `report.json`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from tests.support.campaigns.outcomes import attempt_of, definition_of
from tests.support.campaigns.synthetic import GENERATED_AT
from tests.unit.report.pages import page_of, rows_of

from plimsoll.analysis.campaign.by_load import compare_actions
from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData
from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.action import (
    Action,
    ActionPart,
    ActionResult,
    FailedOperations,
    LevelAroundAction,
    PhaseFigures,
)
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.report.charts.theme import Figure
from plimsoll.report.document import report_document
from plimsoll.report.words.actions import (
    action_sentences,
    actions_sheet,
    evidence_table,
    levels_table,
    phase_text,
    ratios_table,
    times_table,
    took_sentences,
)
from plimsoll.report.words.environment_facts import environment

ACTION = Action(name="add-node")


def result(duration_s: float) -> ActionResult:
    return ActionResult(
        action=ACTION,
        hosts=(),
        begun_s=40.0,
        ended_s=40.0 + duration_s,
        duration_s=duration_s,
        evidence=("node4 joined: <4 nodes> agree",),
        parts=(ActionPart(name="node4: streaming", seconds=9.5),),
        streamed_bytes=157 << 20,
        failed=FailedOperations(before=0, during=12, after=0),
        levels=(
            LevelAroundAction(
                service_level=ServiceLevel(),
                before=PhaseFigures(judged=2, missed=0, met=True, worst_ms=38.24),
                during=PhaseFigures(judged=5, missed=2, met=False, worst_ms=310.0),
                after=PhaseFigures(judged=0, missed=0, met=None, worst_ms=None),
                met_again_s=None,
            ),
        ),
    )


def acted(attempt: AttemptData, duration_s: float) -> AttemptData:
    return replace(attempt, verdict=attempt.verdict.model_copy(update={"action": result(duration_s)}))


@pytest.fixture(scope="module")
def findings(demo: Findings) -> Findings:
    """Provide the demo as if a node had been added in each of its cells, in 20 s, 21 s and so on."""
    attempts = tuple(acted(one, 20.0 + n) for n, one in enumerate(demo.data.attempts))
    definition = demo.data.definition.model_copy(update={"action": ACTION})
    return analyse(replace(demo.data, attempts=attempts, definition=definition))


def test_a_row_for_each_variant_and_load_has_the_range_over_repeats(findings: Findings) -> None:
    rows = rows_of(times_table(findings))
    assert len(rows) == len({(one.cell.variant, one.cell.load_ops_s) for one in findings.cells if one.verdict})
    assert rows[0]["Median time"].endswith(" s")


def test_a_sentence_says_in_how_many_repeats_the_level_was_met(findings: Findings) -> None:
    first = action_sentences(findings)[0]
    assert ": add-node took 20 s in 1 valid repeat. " in first
    assert first.endswith("below 100ms was met before in 1 of 1, during in 0 of 1, after in 0 of 0.")


def test_a_cell_has_its_phases_in_words(findings: Findings) -> None:
    row = rows_of(levels_table(findings))[0]
    assert (row["Before"], row["During"], row["After"]) == ("met, worst 38.2 ms", "missed 2 of 5, worst 310 ms", "–")
    assert (row["Streamed"], row["Met again"]) == ("157 MiB", "–")
    assert row["Failed operations before / during / after"] == "0 / 12 / 0"
    assert rows_of(evidence_table(findings))[0]["Parts"] == "node4: streaming 9.5 s"


def test_a_phase_that_percentiles_over_time_leave_open_is_not_called_met() -> None:
    assert phase_text(PhaseFigures(judged=2, missed=0, met=None, worst_ms=None)) == "left open, worst –"


def test_a_time_that_nothing_dates_is_told_between_its_bounds_and_not_compared(findings: Findings) -> None:
    undated = tuple(
        replace(one, verdict=one.verdict.model_copy(update={"action": with_bounds(one.verdict.action)}))
        for one in findings.data.attempts
    )
    found = analyse(replace(findings.data, attempts=undated))
    assert (
        rows_of(levels_table(found))[0]["Took"]
        == "between 5.0 and 20.0 s (and stood still for 3.0 s, while nobody looked)"
    )
    assert {row["Of"] for row in rows_of(ratios_table(found))} == {"streaming"}


def with_bounds(action: ActionResult | None) -> ActionResult | None:
    return action and action.model_copy(update={"undated_s": 15.0, "waited_s": 3.0})


def test_the_page_has_the_section_only_where_there_is_an_action(
    demo: Findings, findings: Findings, demo_figures: Sequence[Figure]
) -> None:
    shown = page_of(findings, demo_figures)
    assert '<section id="actions">' in shown
    assert ACTION.sentence(findings.part.timing) in shown
    assert "node4 joined: &lt;4 nodes&gt; agree" in shown
    assert '<section id="actions">' not in page_of(demo, demo_figures)


def test_the_document_has_duration_evidence_and_the_level_around_it(demo: Findings, findings: Findings) -> None:
    document = json.loads(report_document(findings, environment(findings)).model_dump_json())
    action = next(one["action"] for one in document["cells"] if "action" in one)
    assert action["evidence"] == ["node4 joined: <4 nodes> agree"]
    assert action["duration_s"] >= 20.0
    assert action["levels"][0]["during"] == {"judged": 5, "missed": 2, "met": False, "worst_ms": 310.0}
    assert document["actions_s"][0]["low"] <= document["actions_s"][0]["median"] <= document["actions_s"][0]["high"]
    assert {one["part"] for one in document["actions_compared"]} == {"", "streaming"}
    plain = json.loads(report_document(demo, environment(demo)).model_dump_json())
    assert "actions_s" not in plain
    assert not any("action" in one for one in plain["cells"])


def test_times_are_compared_with_the_control_s_as_a_whole_and_in_parts(findings: Findings) -> None:
    rows = rows_of(ratios_table(findings))
    assert {row["Of"] for row in rows} == {"the whole", "streaming"}
    assert {row["Time / control's"] for row in rows if row["Of"] == "streaming"} == {"1×"}
    assert all(row["So it takes"].endswith(", by one repeat each") for row in rows)


def test_a_campaign_says_how_much_less_time_an_action_takes_than_with_the_control() -> None:
    found = analyse(of_two_repeats({"a": (50.0, 52.0), "b": (40.0, 44.0)}))
    assert list(took_sentences(found)) == [
        "A: add-node took 50 to 52 s at 1,000 ops/s.",
        "B: add-node took 40 to 44 s at 1,000 ops/s: 18 % less time than A (23 % less to 12 % less, with a chance of "
        "66 %).",
    ]
    compared = compare_actions(found.cells, "a")
    assert [(one.variant, one.part, one.repeats) for one in compared] == [
        ("b", "", (2, 2)),
        ("b", "streaming", (2, 2)),
    ]
    assert compare_actions(found.cells, None) == ()


def of_two_repeats(seconds: Mapping[str, tuple[float, float]]) -> CampaignData:
    """Return a campaign in whose cells a node was added in those times, by variant."""
    definition = definition_of({name: {1_000: "mm"} for name in seconds}, control="a", action={"name": "add-node"})
    attempts = (
        acted(attempt_of(definition, cell, 1, "m"), seconds[cell.variant][cell.repeat - 1])
        for cell in grid(resolve(definition))
    )
    return CampaignData("acted-1", definition, tuple(attempts), (), GENERATED_AT)


def test_the_table_has_a_row_for_each_phase(findings: Findings) -> None:
    table = actions_sheet(findings).frame()
    assert table["phase"].tolist()[:3] == ["before", "during", "after"]
    assert table["missed"].tolist()[:3] == [0, 2, 0]
