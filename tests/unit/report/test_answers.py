from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.installation import instant_definition
from tests.support.campaigns.outcomes import campaign_of, with_failed_operations
from tests.support.campaigns.synthetic import Plan, synthetic_campaign

from plimsoll.analysis.campaign.findings import analyse
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.report.sections.answer import answer_context
from plimsoll.report.words.answers import sentence
from plimsoll.report.words.capacities import capacity_rows, capacity_rows_of, loads_line

TOLD = {
    "found": (
        {10_000: "mm", 20_000: "mm", 30_000: "xm"},
        "20,000 ops/s",
        "A carries 20,000 ops/s: all 2 repeats met the service level there and at every lower load; "
        "at 30,000 ops/s, 1 of 2 repeats missed.",
    ),
    "found with one repeat": (
        {10_000: "m", 20_000: "x"},
        "10,000 ops/s",
        "A carries 10,000 ops/s: the only repeat met the service level there; at 20,000 ops/s, the only repeat missed.",
    ),
    "at least": (
        {10_000: "mm", 20_000: "mm"},
        "at least 20,000 ops/s",
        "A carries at least 20,000 ops/s: all 2 repeats met the service level there and at every lower load; "
        "no higher load was run.",
    ),
    "provisional": (
        {10_000: "mm", 20_000: "mi", 30_000: "x."},
        "at least 10,000 ops/s",
        "A carries at least 10,000 ops/s: all 2 repeats met the service level there; "
        "at 20,000 ops/s, 1 of 2 repeats met, 1 invalid.",
    ),
    "none": (
        {10_000: "xm", 20_000: "xx"},
        "none: below the lowest load",
        "A: no load of this campaign was carried; at 10,000 ops/s, the lowest load, 1 of 2 repeats missed.",
    ),
    "errors": (
        {10_000: "mm", 20_000: "ee"},
        "10,000 ops/s",
        "A carries 10,000 ops/s: all 2 repeats met the service level there; "
        "at 20,000 ops/s, 2 of 2 repeats missed (2 by errors).",
    ),
    "unknown": (
        {10_000: "m.", 20_000: "xx"},
        "unknown",
        "A: the capacity is unknown; at 10,000 ops/s, the lowest load, 1 of 2 repeats met, 1 not run.",
    ),
}


@pytest.mark.parametrize("case", TOLD)
def test_each_kind_of_capacity_is_said_plainly(case: str) -> None:
    loads, headline, words = TOLD[case]
    findings = analyse(campaign_of({"a": loads}))
    assert capacity_rows(findings)[0].capacity == headline
    assert sentence(findings, findings.capacities[0]) == words


def test_rows_show_what_a_capacity_rests_on_and_what_comes_next() -> None:
    (row,) = capacity_rows_of(campaign_of({"a": {10_000: "mmm", 20_000: "mxi"}}))
    assert row.rests_on == "3 of 3 repeats met"
    assert row.next_load == "20,000 ops/s: 1 of 3 repeats missed, 1 invalid"
    assert row.pass_probability == "≥ 36 %"
    assert row.share_of_highest_load == 0.5


def test_a_provisional_capacity_is_not_firm_and_says_what_bounds_it() -> None:
    (row,) = capacity_rows_of(campaign_of({"a": {10_000: "m", 20_000: ".", 30_000: "x"}}))
    assert not row.firm
    assert row.notes == ("provisional: repeats of the next load are incomplete; below 30,000 ops/s, where it missed",)


def test_loads_met_above_a_miss_are_noted_as_not_counted() -> None:
    (row,) = capacity_rows_of(campaign_of({"a": {10_000: "m", 20_000: "x", 30_000: "m"}}))
    assert row.notes == ("met again at 30,000 ops/s: not counted, a lower load missed",)


def test_ratios_to_the_control_are_lower_bounds_where_the_capacity_is_one() -> None:
    loads = {10_000: "m", 20_000: "x"}
    rows = capacity_rows_of(campaign_of({"a": loads, "b": {10_000: "m", 20_000: "m"}, "c": loads}, control="a"))
    assert [row.to_control for row in rows] == ["control", "≥ 2×", "1×"]


def test_variants_with_one_title_are_told_apart_by_their_ids() -> None:
    data = campaign_of({"a": {10_000: "m"}, "b": {10_000: "m"}})
    twins = tuple(variant.model_copy(update={"title": "Twin"}) for variant in data.definition.variants)
    findings = analyse(campaign_of({"a": {10_000: "m"}, "b": {10_000: "m"}}, variants=twins))
    assert list(findings.labels.values()) == ["Twin [a]", "Twin [b]"]


def test_nodes_for_the_highest_load_follow_from_the_capacity() -> None:
    """Three nodes that carry 10,000 ops/s: six for 20,000 if capacity grows with nodes."""
    rows = capacity_rows_of(campaign_of({"a": {10_000: "m", 20_000: "x"}, "b": {10_000: "m", 20_000: "m"}}))
    assert [row.nodes for row in rows] == ["6", "≤ 3"]
    assert capacity_rows_of(campaign_of({"a": {10_000: "x", 20_000: "x"}}))[0].nodes == "–"


def test_nodes_follow_from_the_rate_that_was_answered() -> None:
    """Three nodes that answered 9,000 of 10,000 ops/s: six for 18,000, and four for 10,000."""
    of = {10_000: "s", 18_000: "x"}
    assert [row.nodes for row in capacity_rows_of(campaign_of({"a": of}))] == ["6"]
    assert [row.nodes for row in capacity_rows_of(campaign_of({"a": {10_000: "s"}}))] == ["≤ 4"]


def test_numbers_of_nodes_are_not_extrapolated_beyond_twice_what_was_measured() -> None:
    """Three nodes that carry 100 ops/s were told as 90 nodes for 3,000 ops/s."""
    assert [row.nodes for row in capacity_rows_of(campaign_of({"a": {100: "m", 3_000: "x"}}))] == ["more than 6"]
    open_ended = {100: "mm", 3_000: "m."}
    assert [row.nodes for row in capacity_rows_of(campaign_of({"a": open_ended}, repeats=2))] == ["–"]


def test_the_distance_of_the_worst_intervals_from_the_bound_is_told_on_both_sides_of_the_boundary() -> None:
    met_and_missed, nothing = capacity_rows_of(campaign_of({"a": {100: "m", 200: "x"}, "b": {100: ".", 200: "."}}))
    assert (
        met_and_missed.by_how_much == "its worst interval was 0.5× the bound at 100 ops/s, 2.5× the bound at 200 ops/s"
    )
    assert nothing.by_how_much == "no interval was judged"
    missed = analyse(campaign_of({"a": {100: "x", 200: "x"}}))
    [capacity] = missed.capacities
    assert capacity.next_load is not None
    silent = capacity.model_copy(update={"next_load": capacity.next_load.model_copy(update={"worst_ratio": None})})
    told = capacity_rows(replace(missed, capacities=(silent,)))[0].by_how_much
    assert told == "in its missed intervals nothing was answered"
    failed = capacity_rows_of(with_failed_operations(campaign_of({"a": {100: "m", 200: "x"}})))[0]
    assert failed.by_how_much.endswith("0.5× the bound at 100 ops/s, at least 2.5× the bound at 200 ops/s")


@pytest.mark.parametrize(
    ("loads", "words"),
    [
        (
            {200: "m", 2_000: "x"},
            "the boundary lies between 200 and 2,000 ops/s: 600 ops/s would halve the gap, then 350 or 1,000",
        ),
        ({200: "x"}, "the boundary lies below the lowest load: run 100 ops/s next, then 50"),
        ({200: "m"}, "nothing bounds it from above: run 400 ops/s next"),
        ({40_000: "m", 50_000: "x"}, ""),
    ],
)
def test_the_loads_that_would_narrow_the_answer_are_named(loads: dict[Any, Any], words: str) -> None:
    assert capacity_rows_of(campaign_of({"a": loads}))[0].narrowing == words


def test_they_stand_in_the_definitions_own_terms_for_all_variants() -> None:
    rows = capacity_rows_of(campaign_of({"a": {200: "m", 2_000: "x"}, "b": {200: "x", 2_000: "x"}}))
    assert loads_line(rows) == "loads: [50/s, 100/s, 200/s, 350/s, 600/s, 1000/s, 2000/s]"
    assert loads_line(capacity_rows_of(campaign_of({"a": {40_000: "m", 50_000: "x"}}))) == ""


def test_the_definition_takes_that_line_as_it_stands() -> None:
    import yaml

    line = loads_line(capacity_rows_of(campaign_of({"a": {200: "m", 2_000: "x"}})))
    outcomes = dict.fromkeys((200, 350, 600, 1_000, 2_000), "m")
    assert campaign_of({"a": outcomes}, **yaml.safe_load(line)).definition.loads == tuple(outcomes)


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, True),
        ({"repeats": 1}, False),
        ({"repeats": 2}, False),
        ({"system": {"version": "4.0.1", "nodes": 1}, "workload": {"replication_factor": 1}}, False),
        ({"provider": {"name": "imported"}}, False),
    ],
)
def test_nodes_are_guessed_only_from_several_nodes_that_were_deployed_and_measured_often(
    changes: dict[str, Any], shown: bool
) -> None:
    repeats = changes.get("repeats", 3)
    data = campaign_of({"a": {10_000: "m" * repeats, 20_000: "x" * repeats}}, **changes)
    assert answer_context(analyse(data))["shows_nodes"] is shown


@pytest.mark.parametrize("database", ["command", "external"])
def test_no_nodes_are_guessed_of_what_others_run_or_only_commands_know(database: str) -> None:
    data = campaign_of({"a": {10_000: "mmm"}})
    changes: dict[str, Any] = (
        {"provider": ProviderChoice(name="external")}
        if database == "external"
        else {"variants": tuple(one.model_copy(update={"product": "command"}) for one in data.definition.variants)}
    )
    changed = replace(data, definition=data.definition.model_copy(update=changes))
    assert answer_context(analyse(changed))["shows_nodes"] is False


def test_of_a_threshold_nothing_is_said_of_a_next_load_or_of_repeats() -> None:
    asked = {"strategy": Threshold(chance="50%"), "repeats": 4}
    definition = instant_definition("demo", variants=2, loads=4, repeats=4).model_copy(update=asked)
    plan = Plan({"v1": 3000, "v2": 1000}, slow_cells={"v1-002k-r1": 100.0})
    rows = capacity_rows_of(synthetic_campaign(definition, plan))  # every cell has run
    assert [row.next_load for row in rows] == ["–", "–"]
    told = " ".join(note for row in rows for note in row.notes)
    assert "incomplete" not in told
    assert "where it missed" not in told  # the interval goes beyond that load
