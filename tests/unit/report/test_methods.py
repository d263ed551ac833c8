"""The methods of a report say what is true of its campaign: its strategy, its hosts, its load generator, its origin."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.domain.hosts.fingerprint import Provenance
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.report.sections.registry import METHODS, order_words
from plimsoll.report.words.header import counted_from, methods_words

FULL = {"a": {10_000: "mm", 20_000: "mm"}, "b": {10_000: "mm", 20_000: "xm"}}


def of(**changes: Any) -> Findings:
    return analyse(campaign_of(FULL, **changes))


def warned(data: CampaignData, *cells: str) -> CampaignData:
    """Add a remark on the times of these cells, as the judgement of logs of service times leaves it."""
    remark = {"warnings": (f"judged on service time: a stall hides operations {COORDINATED_OMISSION}",)}
    attempts = [
        replace(one, verdict=one.verdict.model_copy(update=remark if one.key.cell_id in cells else {}))
        for one in data.attempts
    ]
    return replace(data, attempts=tuple(attempts))


def test_a_full_grid_on_hosts_of_the_cell_or_the_campaign_is_shuffled_as_a_whole() -> None:
    for scope in ("cell", "campaign"):
        words = order_words(of(cluster_scope=scope, seed=7))
        assert words.startswith(
            "Each repeat is a block: all variants and loads once, shuffled by the definition's seed"
        )
        assert "(7)" in words
        assert words.endswith("does not favour a variant.")


ORDERS: Mapping[str, tuple[dict[str, object], tuple[str, ...]]] = {
    "kept for a variant": ({"cluster_scope": "variant"}, ("all loads once", "may favour a variant")),
    "search": ({"strategy": "search"}, ("A search decides by the results so far",)),
    "ramp": ({"strategy": "ramp"}, ("A ramp decides by the results so far",)),
    "same data": (
        {"strategy": {"name": "ramp", "data": "same"}, "cluster_scope": "campaign"},
        ("on the same data, from the lowest up", "order of the variants within a repeat is shuffled"),
    ),
    "search on kept hosts": (
        {"strategy": "search", "cluster_scope": "variant"},
        ("A search decides", "all its cells run before those of the next one"),
    ),
}


@pytest.mark.parametrize("case", ORDERS)
def test_what_is_not_shuffled_is_not_said_to_be(case: str) -> None:
    changes, facts = ORDERS[case]
    words = order_words(of(**changes))
    assert all(fact in words for fact in facts)
    assert "all variants and loads once" not in words
    assert "does not favour a variant" not in words


def test_of_imported_cells_no_order_is_claimed() -> None:
    data = campaign_of(FULL)
    origin = Provenance(source="somebody", files=("a.hdr",), imported_at=data.generated_at)
    words = order_words(
        analyse(replace(data, attempts=tuple(replace(one, provenance=origin) for one in data.attempts)))
    )
    assert "imported" in words
    assert "shuffled" not in words


def test_times_that_count_from_the_send_are_not_said_to_count_from_the_intended_start() -> None:
    data = campaign_of({"a": {10_000: "mm"}})
    for cells, words, caption in (
        ((), "From an operation's intended start on a fixed schedule", ", counted from their intended start"),
        (("a-010k-r1",), "In 1 of 2 cells: not from the intended start", ", but not all of them counted from"),
        (("a-010k-r1", "a-010k-r2"), "Not from the intended start", ", but not all of them counted from"),
    ):
        found = analyse(warned(data, *cells))
        verdicts = [one.verdict for one in (result.counted for result in found.cells) if one]
        assert words in METHODS.context(found)["response_time"] == methods_words(verdicts)
        assert counted_from(verdicts).startswith(caption)


def test_a_fast_search_passes_over_what_it_left_out() -> None:
    fast = {"name": "search", "mode": "fast"}
    are_fast = [METHODS.context(of(strategy=one))["is_fast"] for one in (fast, "search", "full-grid")]
    assert are_fast == [True, False, False]
