"""The report of a campaign in stages: loads that were taken, what they rest on, and a variant that carried nothing."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pandas as pd
import pytest
from rich.console import Console
from tests.support.campaigns.outcomes import attempt_of, definition_of
from tests.support.campaigns.sound_attempt import HOST
from tests.support.campaigns.synthetic import GENERATED_AT

from plimsoll.analysis.campaign.capacity import capacities_over_stages
from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData
from plimsoll.analysis.campaign.findings import analyse, data_of_parts
from plimsoll.analysis.campaign.taken_loads import mean_of, ratio_of
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.grid import cells_by_id, grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import PROCESSORS
from plimsoll.domain.hosts.fingerprint import Fingerprint, NodeFingerprint
from plimsoll.domain.keys.action import Action, condition_of
from plimsoll.domain.keys.strategy import StageLoad, StageStart, StageStarts
from plimsoll.domain.text.errors import Refused
from plimsoll.report import build_report
from plimsoll.report.compare.parts import Comparisons, compare_parts, comparisons_of, only_in_one
from plimsoll.report.compare.view import comparison_view
from plimsoll.report.words.capacities import capacity_rows_of, loads_line
from plimsoll.report.words.conclusion import campaign_conclusion

STAGES = [
    {"id": "maximum"},
    {"id": "share", "title": "Throughput at 70 %", "loads": {"share": "70%", "of": "maximum"}},
    {"id": "common", "loads": {"slowest_of": "maximum"}},
]
MAXIMA: Mapping[str, int | None] = {"a": 10_000, "b": 20_000, "c": None}


def stage_start(stage: str, loads: Mapping[str, int | None]) -> StageStart:
    found = [
        StageLoad(
            variant=name,
            load_ops_s=load,
            maximum_ops_s=MAXIMA[name],
            kind="found" if MAXIMA[name] else "none",
            decided_by=(f"maximum-{name}-020k-r1/1",),
        )
        for name, load in loads.items()
    ]
    return StageStart(stage=stage, of="maximum", at=GENERATED_AT, loads=tuple(found))


def started(definition: Definition, starts: StageStarts) -> Sequence[Cell]:
    """Return the cells of a campaign whose stages took these loads."""
    return grid(resolve(definition).with_stage_starts(starts))


@pytest.fixture(scope="module")
def data() -> CampaignData:
    outcomes = {name: {10_000: "mm", 20_000: "mm"} for name in MAXIMA}
    definition = definition_of(outcomes, control="a", stages=STAGES)
    starts = {
        "share": stage_start("share", {"a": 7_000, "b": 14_000, "c": None}),
        "common": stage_start("common", dict.fromkeys(MAXIMA)),
    }
    carried = {"a": "mx", "b": "mm", "c": "xx"}
    attempts = [
        attempt_of(
            definition,
            cell,
            1,
            carried[cell.variant][cell.load_ops_s // 10_000 - 1] if cell.stage == "maximum" else "m",
        )
        for cell in started(definition, starts)
    ]
    return CampaignData("staged-1", definition, tuple(attempts), (), GENERATED_AT, stage_starts=starts)


def test_each_stage_with_cells_is_a_part_with_the_variants_that_have_loads(data: CampaignData) -> None:
    maximum, share = data_of_parts(data)
    assert (maximum.part.id, share.part.id) == ("maximum", "share")
    assert [one.id for one in share.part.variants] == ["a", "b"]
    assert share.part.loads == (7_000, 14_000)


@pytest.mark.usefixtures("without_drawings")
def test_the_report_tells_shares_relative_to_the_control_and_who_carried_nothing(data: CampaignData) -> None:
    files = build_report(data)
    document = json.loads(files["report.json"])
    assert [one["name"] for one in document["parts"]] == ["maximum", "share"]
    a, b = document["parts"][1]["at_loads"]
    assert (a["load_ops_s"], a["to_control"], a["repeats"]) == (7_000, None, 2)
    assert b["to_control"]["value"] == pytest.approx(2, rel=0.2)
    page = files["report.html"].decode()
    assert "Throughput at 70 %" in page
    assert "c was not found to carry a load of stage maximum (maximum-c-020k-r1/1), so it has no maximum." in page
    assert "So stage common has no cells." in page
    assert "These loads were found on" in page
    assert "By the results that count by now" not in page
    assert 'href="share-report.html"' in page
    assert "common-report.html" not in files
    assert "| B | 14,000 ops/s | 2 |" in files["summary.md"].decode()
    assert files["at-taken-loads.csv"].decode().startswith("stage,workload,variant,load_ops_s,repeats,achieved_ops_s")
    assert files["cells.csv"].decode().splitlines()[0].startswith("stage,")


@pytest.mark.usefixtures("without_drawings")
def test_a_stage_at_a_taken_load_says_what_happened_there_and_claims_no_capacity(data: CampaignData) -> None:
    files = build_report(data)
    document = json.loads(files["report.json"])
    own = json.loads(files["share-report.json"])
    words = (
        "At 70 % of its maximum A (7,000 ops/s) met the service level in 2 of 2 valid repeats, "
        "B (14,000 ops/s) in 2 of 2."
    )
    assert document["parts"][1]["conclusion"] == own["conclusion"] == words
    assert own["answers"] == [
        "A at 7,000 ops/s, 70 % of its maximum: 2 of 2 repeats met.",
        "B at 14,000 ops/s, 70 % of its maximum: 2 of 2 repeats met.",
    ]
    assert (own["capacity"], document["parts"][1]["capacity"], own["next_loads"]) == ([], [], "")
    assert [one["load_ops_s"] for one in own["at_loads"]] == [7_000, 14_000]
    assert {one["stage"] for one in document["capacity"]} == {"maximum"}
    assert "share" not in files["capacity.csv"].decode()
    assert len(files["share-capacity.csv"].decode().splitlines()) == 1
    texts = [files[f"share-{name}"].decode() for name in ("report.html", "summary.md")]
    for text in texts:
        for claim in ("arries", "at least", "no higher load was run", "may be higher", "Bars reach", "odes for"):
            assert claim not in text.split('<section id="heat-map"')[0], claim
        assert words in text
        assert "a: maximum 10,000 ops/s in stage maximum" in text
        assert "c was not found to carry a load of stage maximum" in text
    assert "load line" not in texts[0]
    assert words in files["report.html"].decode()
    assert "At 70 %" in files["summary.md"].decode()
    assert "highest load at which every" in files["maximum-report.html"].decode()


@pytest.mark.usefixtures("without_drawings")
def test_a_stage_at_the_slowest_maximum_says_the_load_once_and_who_has_no_valid_repeat() -> None:
    stages = [{"id": "maximum"}, {"id": "common", "loads": {"slowest_of": "maximum"}}]
    definition = definition_of({"a": {10_000: "mm"}, "b": {10_000: "mm"}}, stages=stages)
    common = StageStart(
        stage="common",
        of="maximum",
        at=GENERATED_AT,
        loads=tuple(
            StageLoad(variant=name, load_ops_s=10_000, maximum_ops_s=10_000, kind="at-least") for name in ("a", "b")
        ),
    )
    starts = {"common": common}
    attempts = [
        attempt_of(definition, cell, 1, "x" if cell.stage == "common" else "m") for cell in started(definition, starts)
    ]
    without_b = tuple(one for one in attempts if (one.verdict.cell.stage, one.verdict.cell.variant) != ("common", "b"))
    files = build_report(CampaignData("staged-2", definition, without_b, (), GENERATED_AT, stage_starts=starts))
    assert json.loads(files["common-report.json"])["conclusion"] == (
        "At the slowest variant's maximum (10,000 ops/s) A met the service level in 0 of 2 valid repeats, "
        "B has no valid repeat. The campaign is incomplete: 2 of 4 cells have no valid attempt."
    )


@pytest.mark.usefixtures("without_drawings")
def test_a_maximum_that_was_judged_otherwise_since_is_told_and_the_load_stands(data: CampaignData) -> None:
    worse = [attempt for attempt in data.attempts if attempt.key.cell_id != "maximum-b-010k-r1"]
    cell = cells_by_id(resolve(data.definition))["maximum-b-010k-r1"]
    again = attempt_of(data.definition, cell, 1, "x")
    files = build_report(replace(data, attempts=(*worse, again)))
    page, of_part = files["report.html"].decode(), files["share-report.html"].decode()
    assert "By the results that count by now the maximum of b is none." in page
    assert "it runs at 14,000 ops/s" in page
    assert "By the results that count by now the maximum of b is none." in of_part


def test_loads_that_were_taken_have_no_line_among_the_capacities_and_are_not_narrowed(data: CampaignData) -> None:
    assert [row.variant for row in capacity_rows_of(data)] == ["A, maximum", "B, maximum", "C, maximum"]
    assert "14" not in loads_line(capacity_rows_of(data))


def test_a_mean_of_repeats_has_student_s_interval_and_a_ratio_has_welch_s() -> None:
    assert mean_of([]) is None
    assert mean_of([5.0]) is not None
    assert (mean_of([5.0]) or pd.NA).low is None
    found = mean_of([90.0, 100.0, 110.0])
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert (found.value, found.low, found.high) == pytest.approx((99.66, 77.66, 127.9), rel=1e-3)
    ratio = ratio_of([200.0, 220.0], [100.0, 110.0])
    assert ratio is not None
    assert ratio.low is not None
    assert ratio.low < ratio.value == pytest.approx(2.0)


def shared_by(campaign_id: str, *variants: str) -> CampaignData:
    """Make two stages, the second with cells of these variants alone: the others carried nothing in the first."""
    outcomes = {name: {10_000: "mm", 20_000: "mm"} for name in MAXIMA}
    loads = {name: 7_000 if name in variants else None for name in MAXIMA}
    definition = definition_of(outcomes, control="a", stages=STAGES[:2])
    starts = {"share": stage_start("share", loads)}
    attempts = tuple(attempt_of(definition, cell, 1, "m") for cell in started(definition, starts))
    return CampaignData(campaign_id, definition, attempts, (), GENERATED_AT, stage_starts=starts)


def test_a_stage_without_a_common_variant_is_named_and_the_others_are_compared() -> None:
    found = compare_parts(shared_by("one", "a"), shared_by("two", "b"))
    assert [one.workload for one in comparisons_of(found)] == ["maximum"]
    assert list(only_in_one(found)) == ["Only in A, not compared: share", "Only in B, not compared: share"]


def test_a_pair_of_variants_holds_in_the_stages_in_which_both_have_cells() -> None:
    one, two = shared_by("one", "a", "b"), shared_by("two", "a")
    maximum, share = comparisons_of(compare_parts(one, two, pairing={"b": "b", "a": "a"}))
    assert {"a", "b"} <= {pair.variants.a for pair in maximum.capacity}
    assert [pair.a for pair in share.pairs] == ["a"]
    with pytest.raises(Refused, match=r"pair 'd'.*A has no variant of that id"):
        compare_parts(one, two, pairing={"d": "a"})


def told(found: Comparisons) -> str:
    shown = StringIO()
    Console(width=250, file=shown).print(comparison_view(found))
    return shown.getvalue()


def test_a_comparison_claims_no_capacity_at_loads_from_an_earlier_stage() -> None:
    found = compare_parts(shared_by("one", "a", "b"), shared_by("two", "a"))
    maximum, share = comparisons_of(found)
    assert [pair.variants.a for pair in maximum.capacity] == ["a", "b", "c"]
    assert (share.capacity, [pair.a for pair in share.pairs]) == ((), ["a"])
    assert share.answers[0].startswith(
        "A: in A at 7,000 ops/s (70 % of its maximum) 2 of 2 repeats met, "
        "in B at 7,000 ops/s (70 % of its maximum) 2 of 2 repeats met; "
    )
    of_maximum, of_share = told(found).split("Workload share")
    assert "Capacity" in of_maximum
    assert "Capacity" not in of_share
    assert "carries" not in of_share
    assert "7,000 ops/s" in of_share


def test_only_the_campaign_whose_loads_are_its_own_has_a_capacity_beside_one_with_a_taken_load() -> None:
    stages = [{"id": "maximum"}, {"id": "share", "loads": ["7000/s"]}]
    definition = definition_of({"a": {10_000: "mm"}}, stages=stages)
    attempts = tuple(attempt_of(definition, cell, 1, "m") for cell in grid(resolve(definition)))
    own = CampaignData("own", definition, attempts, (), GENERATED_AT)
    found = compare_parts(shared_by("one", "a"), own)
    (pair,) = comparisons_of(found)[1].capacity
    assert (pair.a, pair.b and pair.b.capacity_ops_s, pair.ratio) == (None, 7_000, None)
    assert "in A at 7,000 ops/s (70 % of its maximum) 2 of 2 repeats met, B carries at least 7,000 ops/s" in told(found)
    assert "none: its load comes from an earlier stage" in told(found)


LEVELS = [{"percentile": 99.9, "interval": "10s", "below": "100ms"}]


def contradicting(half: Mapping[str, object], order: tuple[str, str] = ("top", "half")) -> CampaignData:
    """Let stage `top` find 20,000 ops/s for A and B, and a repeat of B miss at 5,000 ops/s in stage `half`."""
    by_id = {"top": {"id": "top"}, "half": {"id": "half", "loads": ["5000/s"], **half}}
    outcomes = {name: {20_000: "mm", 40_000: "mm"} for name in ("a", "b")}
    definition = definition_of(outcomes, control="a", stages=[by_id[name] for name in order])
    letters = {20_000: "mm", 40_000: "mx", 5_000: "mm"}
    attempts = [
        attempt_of(
            definition,
            cell,
            1,
            "mx"[cell.repeat - 1]
            if (cell.variant, cell.stage) == ("b", "half")
            else letters[cell.load_ops_s][cell.repeat - 1],
        )
        for cell in grid(resolve(definition))
    ]
    return CampaignData("torn-1", definition, tuple(attempts), (), GENERATED_AT)


@pytest.mark.usefixtures("without_drawings")
@pytest.mark.parametrize("order", [("top", "half"), ("half", "top")])
def test_a_miss_at_a_lower_load_of_another_stage_counts_whichever_ran_first(order: tuple[str, str]) -> None:
    files = build_report(contradicting({"timing": {"duration": "300s", "warmup": "30s"}}, order))
    document = json.loads(files["report.json"])
    assert document["conclusion"] == (
        "A carries 20,000 ops/s, B not even 5,000 ops/s, the lowest load that was run. "
        "Over the whole campaign B does not carry 20,000 ops/s: 1 of 2 repeats missed at 5,000 ops/s in stage half."
    )
    assert [(one["variant"], one["kind"], one["capacity_ops_s"]) for one in document["answer"]] == [
        ("a", "found", 20_000),
        ("b", "none", None),
    ]
    top = json.loads(files["top-report.json"])
    assert top["conclusion"].startswith("In this stage alone A and B carry 20,000 ops/s; 40,000 ops/s is too much")
    assert top["conclusion"].endswith("in stage half.")
    a, b = top["capacity"]
    assert "contradicted_by" not in a
    assert b["contradicted_by"] == [{"stage": "half", "load_ops_s": 5_000, "missed": 1, "repeats": 2, "counts": True}]
    assert (len(a["narrowing_ops_s"]), b["narrowing_ops_s"]) == (3, [])
    page = files["report.html"].decode()
    assert "Stages that contradict each other" in page
    row = "<td>20,000 ops/s in stage top</td><td>1 of 2 repeats missed at 5,000 ops/s in stage half</td>"
    assert f"{row}<td>the miss counts</td>" in page
    assert "| B | 20,000 ops/s in stage top | 1 of 2 repeats missed at 5,000 ops/s in stage half |" in (
        files["summary.md"].decode()
    )


@pytest.mark.usefixtures("without_drawings")
def test_a_miss_by_other_service_levels_is_put_beside_and_does_not_count() -> None:
    files = build_report(contradicting({"service_levels": [{**LEVELS[0], "below": "20ms"}]}))
    document = json.loads(files["report.json"])
    first, second = document["conclusion"].split(". ", 1)
    assert first == "By p99.9 of every 10s interval below 100ms: A and B carry 20,000 ops/s; 40,000 ops/s is too much"
    assert second == "By p99.9 of every 10s interval below 20ms: A carries at least 5,000 ops/s, B not even that."
    assert "both stand: the stages have different service levels" in files["report.html"].decode()
    assert document["capacity"][1]["contradicted_by"][0]["counts"] is False


@pytest.mark.usefixtures("without_drawings")
def test_what_is_carried_with_a_node_down_stands_beside_what_the_healthy_cluster_carries() -> None:
    stages = [{"id": "healthy"}, {"id": "down", "action": {"name": "kill-node", "before_load": True}}]
    definition = definition_of({"a": {10_000: "mm", 20_000: "mm"}}, stages=stages)
    attempts = tuple(
        attempt_of(definition, cell, 1, "x" if (cell.stage, cell.load_ops_s) == ("down", 20_000) else "m")
        for cell in grid(resolve(definition))
    )
    files = build_report(CampaignData("down-1", definition, attempts, (), GENERATED_AT))
    document = json.loads(files["report.json"])
    assert document["conclusion"] == (
        "Healthy: A carries 20,000 ops/s, the highest load that was run. "
        "With one node down: A carries 10,000 ops/s; 20,000 ops/s is too much. "
        "Healthy and with one node down are not told apart (it carries less with a chance of 93 %): run 10,000 ops/s "
        "again under both. "
        "All nodes share this machine's processors, and one that is gone leaves its share to the others: what losing a "
        "node costs on hosts of their own can't be told from these figures."
    )
    assert [one.get("action", {}).get("name") for one in document["answer"]] == [None, "kill-node"]
    assert not any("contradicted_by" in one for one in document["capacity"]), "they answer different questions"
    cells = '<td class="strong">at least 20,000 ops/s</td><td class="strong">10,000 ops/s</td>'
    assert cells in files["report.html"].decode()
    assert "| Healthy | With one node down |" in files["summary.md"].decode()


@pytest.mark.usefixtures("without_drawings")
@pytest.mark.parametrize(("of_others", "ending"), [("0.4", "caches and disk are shared."), ("0.5", "these figures.")])
def test_nodes_with_processors_of_their_own_lose_a_node_as_others_do(of_others: str, ending: str) -> None:
    stages = [{"id": "healthy"}, {"id": "down", "action": {"name": "kill-node", "before_load": True}}]
    definition = definition_of({"a": {10_000: "mm"}}, stages=stages)
    attempts = tuple(
        on_processors(attempt_of(definition, cell, 1, "m"), of_others if cell.stage == "down" else "0.4")
        for cell in grid(resolve(definition))
    )
    files = build_report(CampaignData("down-1", definition, attempts, (), GENERATED_AT))
    conclusion = json.loads(files["report.json"])["conclusion"]
    assert conclusion.endswith(ending)
    assert ("Each node has 0.4 processors of this machine for itself" in conclusion) is (of_others == "0.4")


def on_processors(attempt: AttemptData, processors: str) -> AttemptData:
    facts = HOST.model_copy(update={"provider": {PROCESSORS: processors}})
    node = NodeFingerprint(
        host="node1", address="127.0.0.1", facts=facts, processes=(), database="Cassandra", database_version="4.0.1"
    )
    return replace(attempt, fingerprint=Fingerprint(nodes=(node,), load_host=HOST, load_generator="made up"))


def test_a_condition_names_how_many_nodes_it_is_about() -> None:
    actions = (Action(name="restart"), Action(name="add-node", count=3), Action(name="replace-node"), None)
    assert [condition_of(one) for one in actions] == [
        "while all nodes restart",
        "while 3 nodes join",
        "while a node is replaced",
        "healthy",
    ]
    assert "comes back" in condition_of(Action(name="kill-node", down_for=timedelta(seconds=60)))


@pytest.mark.usefixtures("without_drawings")
def test_a_miss_at_a_load_that_was_taken_from_the_maximum_counts_against_it() -> None:
    stages = [{"id": "maximum"}, {"id": "share", "loads": {"share": "70%", "of": "maximum"}}]
    definition = definition_of({"a": {10_000: "mm", 20_000: "mm"}}, stages=stages)
    starts = {"share": stage_start("share", {"a": 7_000})}
    attempts = [
        attempt_of(definition, cell, 1, "x" if cell.stage == "share" or cell.load_ops_s == 20_000 else "m")
        for cell in started(definition, starts)
    ]
    files = build_report(CampaignData("staged-3", definition, tuple(attempts), (), GENERATED_AT, stage_starts=starts))
    assert json.loads(files["report.json"])["conclusion"] == (
        "A does not carry even 7,000 ops/s, the lowest load that was run. "
        "Over the whole campaign A does not carry 10,000 ops/s: 2 of 2 repeats missed at 7,000 ops/s in stage share."
    )


def test_a_miss_that_the_threshold_of_the_campaign_takes_in_contradicts_nothing_in_its_conclusion() -> None:
    stages = [
        {"id": "ladder"},
        {"id": "limit", "loads": ["5000/s", "40000/s"], "strategy": {"name": "threshold", "rounded_to": "500/s"}},
    ]
    definition = definition_of({"a": {10_000: "mm", 20_000: "mm"}}, stages=stages)
    margins = {8_000: 60.0, 9_000: 110.0, 10_000: 70.0, 12_000: 80.0, 14_000: 95.0, 18_000: 105.0, 20_000: 150.0}
    attempts = [
        attempt_of(definition, cell, 1, "m" if worst_ms < 100 else "x", worst_ms)
        for cell in grid(resolve(definition))
        if (worst_ms := margins.get(cell.load_ops_s)) and (cell.stage == "ladder" or cell.repeat == 1)
    ]
    parts = data_of_parts(CampaignData("torn-2", definition, tuple(attempts), (), GENERATED_AT))
    findings = [analyse(part) for part in parts]
    assert findings[0].capacities[0].falls_by
    words = campaign_conclusion(capacities_over_stages(parts), (), findings)
    assert words.startswith("A carries ")
    assert "does not carry" not in words


def test_the_table_of_capacities_says_that_one_is_its_stages_alone() -> None:
    a, b, *_ = capacity_rows_of(contradicting({}))
    assert (a.capacity, a.notes) == ("20,000 ops/s", ())
    assert b.capacity == "20,000 ops/s in this stage alone"
    assert b.notes == ("1 of 2 repeats missed at 5,000 ops/s in stage half, which counts",)
