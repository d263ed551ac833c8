"""Campaigns with several workloads side by side: each workload with itself, and what has no counterpart is named."""

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from tests.support.campaigns.outcomes import attempt_of, definition_of
from tests.support.campaigns.synthetic import GENERATED_AT

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import Refused
from plimsoll.report.compare.campaigns import CampaignComparison
from plimsoll.report.compare.parts import PartsComparison, compare_parts, only_in_one
from plimsoll.report.compare.view import comparison_view

KV: Mapping[str, object] = {"id": "kv", "name": "KeyValue"}
SERIES: Mapping[str, object] = {"id": "series", "replication_factor": 2}
TABULAR: Mapping[str, object] = {"id": "tabular", "replication_factor": 1}


def campaign(
    campaign_id: str, workloads: Sequence[Mapping[str, object]], missed: Sequence[str] = (), **changes: Any
) -> CampaignData:
    """Make two loads and two repeats of `a` with each workload; ladders in `missed` miss at the second load."""
    outcomes = {"a": {10_000: "mm", 20_000: "mm"}}
    definition = definition_of(outcomes, workloads=list(workloads), **changes)
    attempts = tuple(
        attempt_of(definition, cell, 1, "x" if cell.ladder in missed and cell.load_ops_s == 20_000 else "m")
        for cell in grid(resolve(definition))
    )
    return CampaignData(campaign_id, definition, attempts, (), GENERATED_AT)


def alone(campaign_id: str, workload: Mapping[str, object]) -> CampaignData:
    """Return the same with one workload, which its cells do not name."""
    own = {key: value for key, value in workload.items() if key != "id"}
    return campaign(campaign_id, [], workload=own)


def test_each_workload_is_compared_with_itself() -> None:
    found = compare_parts(campaign("one", [KV, SERIES]), campaign("two", [SERIES, KV], missed=["a-series"]))
    assert isinstance(found, PartsComparison)
    ratios = [(one.workload, [(pair.ratio, pair.b.capacity_ops_s) for pair in one.capacity]) for one in found.parts]
    assert ratios == [("kv", [(None, 20_000)]), ("series", [(None, 10_000)])]
    assert (found.a.only, found.b.only) == ((), ())
    assert all(len(one.loads) == 2 for one in found.parts)


def test_a_workload_of_one_campaign_alone_is_named_and_compared_with_nothing() -> None:
    found = compare_parts(campaign("one", [KV, SERIES]), campaign("two", [TABULAR, KV]))
    assert isinstance(found, PartsComparison)
    assert [one.workload for one in found.parts] == ["kv"]
    assert list(only_in_one(found)) == [
        "Only in A, not compared: series",
        "Only in B, not compared: tabular",
    ]


def test_an_only_workload_is_compared_with_the_one_that_asks_for_the_same() -> None:
    found = compare_parts(campaign("one", [KV, SERIES]), alone("two", SERIES))
    assert isinstance(found, PartsComparison)
    assert [one.workload for one in found.parts] == ["series"]
    assert (found.a.only, found.b.only) == (("kv",), ())


def test_nothing_in_common_is_refused_even_by_force() -> None:
    with pytest.raises(Refused, match="A has kv, series, B has one BasicTimeSeries without an id: none in common"):
        compare_parts(campaign("one", [KV, SERIES]), alone("two", TABULAR), force=True)


def test_what_is_unlike_names_the_workloads_unless_it_is_so_of_all() -> None:
    other = {**SERIES, "read_share": 0.5}
    a, b = campaign("one", [KV, SERIES]), campaign("two", [KV, other], service_levels=[{"below": "50ms"}])
    with pytest.raises(Refused) as refusal:
        compare_parts(a, b)
    assert [one.where for one in refusal.value.problems] == ["service_levels", "workload.read_share of series"]
    forced = compare_parts(a, b, force=True)
    assert isinstance(forced, PartsComparison)
    assert [len(one.incomparable) for one in forced.parts] == [1, 2]


def test_campaigns_of_one_workload_each_are_compared_as_ever() -> None:
    found = compare_parts(alone("one", SERIES), campaign("two", [SERIES]))
    assert isinstance(found, CampaignComparison)
    assert "workload" not in found.model_dump()


def test_the_terminal_shows_one_workload_below_the_other() -> None:
    shown = StringIO()
    found = compare_parts(campaign("one", [KV, SERIES]), campaign("two", [KV, SERIES, TABULAR]))
    Console(width=200, file=shown).print(comparison_view(found))
    text = shown.getvalue()
    places = [
        text.index(part) for part in ("A: one", "Only in B, not compared: tabular", "Workload kv", "Workload series")
    ]
    assert places == sorted(places)
    assert text.count("Capacity") == 2
