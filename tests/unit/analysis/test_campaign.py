from dataclasses import replace

import pytest
from tests.support.campaigns.outcomes import attempt_of, campaign_of, definition_of

from plimsoll.analysis.campaign.cell_results import (
    achieved,
    cell_results,
    deciding_level,
    distance,
    maxima,
    missed_by,
    missed_levels,
    worst,
    worst_level,
)
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import NotFound


def test_cells_come_by_variant_then_rising_load_then_repeat() -> None:
    data = campaign_of({"b": {20_000: "mm", 10_000: "mm"}, "a": {20_000: "mm", 10_000: "mm"}})
    assert [result.cell.id for result in cell_results(data)] == [
        "b-010k-r1", "b-010k-r2", "b-020k-r1", "b-020k-r2", "a-010k-r1", "a-010k-r2", "a-020k-r1", "a-020k-r2",
    ]  # fmt: skip


def test_every_outcome_becomes_the_state_of_its_cell() -> None:
    results = cell_results(campaign_of({"a": {10_000: "mxei.d"}}))
    assert [result.state for result in results] == ["met", "missed", "missed", "invalid", "not run", "met"]


def test_the_newest_valid_attempt_counts_and_the_replaced_one_is_kept_in_sight() -> None:
    data = campaign_of({"a": {10_000: "m"}})
    cell = grid(resolve(data.definition))[0]
    later = [attempt_of(data.definition, cell, 2, "x"), attempt_of(data.definition, cell, 3, "i")]
    (result,) = cell_results(replace(data, attempts=(*later, *data.attempts)))
    assert result.verdict is not None
    assert result.verdict.key.attempt == 2
    assert [attempt.verdict.key.attempt for attempt in result.superseded] == [1]
    assert result.state == "missed"


def test_a_cell_without_valid_attempt_shows_its_newest_invalid_one_but_counts_none() -> None:
    (result,) = cell_results(campaign_of({"a": {10_000: "i"}}))
    assert result.counted is None
    assert result.shown is not None
    assert result.shown.verdict.reasons == ("node1 went down",)


def test_an_attempt_at_a_cell_outside_the_definition_is_refused_by_name() -> None:
    data = campaign_of({"a": {10_000: "m"}})
    stranger = attempt_of(data.definition, Cell(variant="a", load_ops_s=70_000, repeat=1), 1, "m")
    with pytest.raises(NotFound, match=r"trial-1/a-070k-r1/1: the definition has no cell a-070k-r1"):
        cell_results(replace(data, attempts=(stranger,)))


def test_distance_is_the_worst_interval_as_a_multiple_of_the_bound() -> None:
    (result,) = cell_results(campaign_of({"a": {10_000: "x"}}))
    assert result.verdict is not None
    assert distance(result.verdict) == 2.5


def test_of_several_service_levels_the_one_nearest_to_or_furthest_beyond_its_bound_decides() -> None:
    levels = [{"percentile": 99.9, "below": "100ms"}, {"percentile": 90, "below": "20ms"}]
    (result,) = cell_results(campaign_of({"a": {10_000: "m"}}, service_levels=levels))
    assert result.verdict is not None
    level = deciding_level(result.verdict)
    assert level is not None
    assert level.service_level.percentile == 90
    assert distance(result.verdict) == 2.5


def test_a_valid_attempt_that_kept_its_response_times_can_only_have_missed_by() -> None:
    met, missed, errors = (result.verdict for result in cell_results(campaign_of({"a": {10_000: "mxe"}})))
    assert met is not None and missed is not None and errors is not None  # noqa: PT018 - one fact: all are valid
    assert [missed_by(verdict) for verdict in (met, missed, errors)] == ["", "", "errors"]


def test_a_level_left_open_is_none_that_an_attempt_missed() -> None:
    levels = [{"percentile": 99.9, "below": "100ms"}, {"percentile": 90, "below": "20ms"}]
    (result,) = cell_results(campaign_of({"a": {10_000: "x"}}, service_levels=levels))
    assert result.verdict is not None
    first, second = result.verdict.levels
    for missed, reason, own in ((2, "", (str(first.service_level),)), (0, "errors", ())):
        decided = (first.model_copy(update={"missed": missed}), second.model_copy(update={"missed": 0}))
        verdict = result.verdict.model_copy(update={"levels": decided})
        assert (missed_by(verdict), missed_levels(verdict)) == (reason, own)


def test_maxima_range_over_valid_repeats_only() -> None:
    data = campaign_of({"a": {10_000: "..."}})
    cells = grid(resolve(data.definition))
    worsts = zip(cells, ("m", "m", "i"), (10.0, 30.0, 5.0), strict=True)
    attempts = tuple(attempt_of(data.definition, cell, 1, letter, worst_ms) for cell, letter, worst_ms in worsts)
    (spread,) = maxima(cell_results(replace(data, attempts=attempts)), "p99_9_ms")
    assert (spread.repeats, spread.low, spread.median, spread.high) == (2, 10.0, 20.0, 30.0)


def test_achieved_rate_and_worst_interval_are_given_per_variant_and_load() -> None:
    results = cell_results(campaign_of({"a": {10_000: "mx", 20_000: "ii"}}))
    assert [(one.load_ops_s, one.low, one.high) for one in achieved(results)] == [(10_000, 10_000.0, 10_000.0)]
    assert [(one.load_ops_s, one.low, one.high) for one in worst(results)] == [(10_000, 0.5, 2.5)]


def test_an_empty_campaign_has_cells_but_no_figures() -> None:
    data = replace(campaign_of({"a": {10_000: "m"}}), attempts=())
    results = cell_results(data)
    assert [result.state for result in results] == ["not run"]
    assert maxima(results, "p50_ms") == ()
    assert definition_of({"a": {10_000: "m"}}) == data.definition


def test_the_worst_level_of_cells_is_that_of_the_repeat_furthest_beyond_its_bound() -> None:
    level = worst_level(cell_results(campaign_of({"a": {10_000: "mxi"}})))
    assert level is not None
    assert level.worst_ms == 250.0
    assert worst_level(cell_results(campaign_of({"a": {10_000: "i."}}))) is None
