"""A campaign with two service levels: whatever tells of a miss says which of them was missed."""

import json
from dataclasses import replace

import pytest
from tests.support.campaigns.outcomes import campaign_of
from tests.unit.report.pages import rows_of

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import analyse
from plimsoll.report import build_report
from plimsoll.report.sections.cells import cells_table
from plimsoll.report.words.capacities import capacity_rows_of

LEVELS = [
    {"percentile": 99.9, "interval": "10s", "below": "100ms"},
    {"percentile": 50, "interval": "10s", "below": "5ms"},
]
SECOND = "p50 of every 10s interval below 5ms"


@pytest.fixture(scope="module")
def data() -> CampaignData:
    """Provide two repeats at 20,000 ops/s that both keep the first level, and of which one misses the second."""
    campaign = campaign_of({"a": {10_000: "mm", 20_000: "mx"}}, service_levels=LEVELS)
    attempts = []
    for one in campaign.attempts:
        first, second = one.verdict.levels
        missed = one.verdict.met is False
        levels = (
            first.model_copy(update={"met": True, "missed": 0}),
            second.model_copy(update={"met": not missed, "missed": int(missed)}),
        )
        attempts.append(replace(one, verdict=one.verdict.model_copy(update={"levels": levels})))
    return replace(campaign, attempts=tuple(attempts))


def test_the_table_of_capacities_says_which_level_was_missed(data: CampaignData) -> None:
    (row,) = capacity_rows_of(data)
    assert row.next_load == f"20,000 ops/s: 1 of 2 repeats missed (1 by {SECOND})"


def test_each_cell_says_which_level_it_missed(data: CampaignData) -> None:
    assert [row["Outcome"] for row in rows_of(cells_table(analyse(data)))] == [
        "met",
        "met",
        "met",
        f"missed ({SECOND})",
    ]


@pytest.mark.usefixtures("without_drawings")
def test_the_document_counts_misses_by_level_and_the_page_says_what_charts_are_of(data: CampaignData) -> None:
    files = build_report(data)
    low, high = json.loads(files["report.json"])["capacity"][0]["rungs"]
    assert "missed_by_level" not in low
    assert high["missed_by_level"] == {SECOND: 1}
    assert "are of the first one, p99.9 of every 10s interval below 100ms;" in files["report.html"].decode()


def test_with_one_level_nothing_is_added() -> None:
    campaign = campaign_of({"a": {10_000: "xx"}})
    (row,) = capacity_rows_of(campaign)
    assert row.next_load == "10,000 ops/s: 2 of 2 repeats missed"
    assert [row["Outcome"] for row in rows_of(cells_table(analyse(campaign)))] == ["missed", "missed"]
