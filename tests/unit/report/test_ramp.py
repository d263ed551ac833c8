"""What the report of a ramp says of repeats that kept their response times and fell short of their rate."""

from dataclasses import replace

import pytest
from tests.support.campaigns.outcomes import campaign_of
from tests.support.campaigns.sound_attempt import HOST
from tests.unit.report.pages import rows_of

from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData
from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.domain.hosts.fingerprint import Fingerprint
from plimsoll.report.charts.heat_map import heat_map
from plimsoll.report.charts.timeline import timelines
from plimsoll.report.sections.cells import cells_table
from plimsoll.report.words.answers import sentence
from plimsoll.report.words.capacities import capacity_rows
from plimsoll.report.words.stages import how_cells_were_chosen


@pytest.fixture(scope="module")
def ramp() -> Findings:
    """Provide 10,000 ops/s that met, and 20,000 whose only repeat answered fast but did not achieve its rate."""
    data = campaign_of({"a": {10_000: "m", 20_000: "e", 30_000: "."}}, strategy="ramp")
    return analyse(_short_of_the_rate(data))


def _short_of_the_rate(data: CampaignData) -> CampaignData:
    """Return the same campaign, where every miss is one by rate."""
    short = {"rate_achieved": False, "must_reach_rate": True, "errors": {}}
    verdicts = (one.verdict for one in data.attempts)
    changed = (one if one.met else one.model_copy(update=short) for one in verdicts)
    pairs = zip(data.attempts, changed, strict=True)
    return replace(data, attempts=tuple(replace(attempt, verdict=verdict) for attempt, verdict in pairs))


def test_the_miss_is_counted_as_one_by_rate(ramp: Findings) -> None:
    rung = ramp.capacities[0].rungs[1]
    assert (rung.missed, rung.missed_by_errors, rung.missed_by_rate) == (1, 0, 1)


def test_the_answer_and_the_table_of_cells_name_it(ramp: Findings) -> None:
    two = analyse(_short_of_the_rate(campaign_of({"a": {10_000: "mm", 20_000: "e."}}, strategy="ramp")))
    assert "1 of 2 repeats missed (1 by rate)" in capacity_rows(two)[0].next_load
    assert sentence(ramp, ramp.capacities[0]).endswith("at 20,000 ops/s, the only repeat missed (by rate).")
    assert [row["Outcome"] for row in rows_of(cells_table(ramp))][:2] == ["met", "missed (rate)"]


def test_its_square_has_the_edge_and_the_caption_says_why(ramp: Findings) -> None:
    figure = heat_map(ramp)
    square = {row["load"]: row for row in figure.spec["data"]["values"]}["20k"]
    assert (square["kept_but_missed"], square["repeats"]) == (True, "0/1 met, 1 by rate")
    assert "A solid red edge: response times were kept, but the rate was not achieved." in figure.caption
    assert "a ramp left these repeats out" in figure.caption


def test_its_panel_says_rate(demo: Findings) -> None:
    """The panel's header, which is all that it has of the outcome."""
    shown = demo.cells[0].counted
    assert shown is not None
    levels = tuple(level.model_copy(update={"met": True, "missed": 0}) for level in shown.verdict.levels)
    short = {"met": False, "levels": levels, "rate_achieved": False, "must_reach_rate": True}
    missed = replace(shown, verdict=shown.verdict.model_copy(update=short))
    others = tuple(one for one in demo.data.attempts if one.key != shown.key)
    (first, *_) = timelines(analyse(replace(demo.data, attempts=(missed, *others))))
    assert f"r{demo.cells[0].cell.repeat}: rate" in str(first.spec)


def on_data_of(attempt: AttemptData, *earlier: str) -> AttemptData:
    """Return the attempt, on the data of these."""
    made = Fingerprint(nodes=(), load_host=HOST, load_generator="made up", data_of=earlier)
    return replace(attempt, fingerprint=made)


def test_of_loads_that_share_their_data_it_says_which_did_not() -> None:
    outcomes = {"a": {10_000: "mm", 20_000: "mm", 30_000: "xx"}}
    data = campaign_of(outcomes, strategy={"name": "ramp", "data": "same"}, cluster_scope="campaign")
    of = {"a-020k-r1": ("a-010k-r1/1",), "a-030k-r1": ("a-010k-r1/1", "a-020k-r1/1"), "a-030k-r2": ("a-020k-r2/1",)}
    shared = tuple(on_data_of(one, *of.get(one.key.cell_id, ())) for one in data.attempts)
    words = how_cells_were_chosen(analyse(replace(data, attempts=shared)))
    assert "the lowest load populates, and 3 of 6 cells went on with the database and the data" in words
    assert words.endswith("Fresh data above the lowest load: a-020k-r2.")
