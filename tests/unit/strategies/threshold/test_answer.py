"""The threshold's answer from observations of cells."""

from dataclasses import replace
from math import exp, inf, log

import numpy as np
import pytest

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.strategies.threshold.answer import answer
from plimsoll.strategies.threshold.question import Answer, CellObservation, Question

QUESTION = Question(at_most=60)
OWN_LOAD = 8_000.0
"""Where the mean margin of the tests' system is 0. It rises by 3 per e-fold of load, with a noise of 0.2."""
THRESHOLD = OWN_LOAD * np.exp(-1.2816 * 0.2 / 3)


def cell(load: float, noise: float = 0.0) -> CellObservation:
    margin = 3 * log(load / OWN_LOAD) + noise
    return CellObservation(load, "met" if margin <= 0 else "missed", margin)


def cells(count: int, seed: int = 3) -> list[CellObservation]:
    dice = np.random.default_rng(seed)
    loads = np.exp(np.linspace(log(6_000), log(9_500), count))
    return [cell(float(load), 0.2 * float(dice.standard_normal())) for load in loads]


def of(observed: list[CellObservation]) -> Answer:
    return answer(QUESTION, observed, 1_000, 32_000)


def width(found: Answer) -> float:
    assert found.low_ops_s
    assert found.high_ops_s
    return log(found.high_ops_s / found.low_ops_s)


def without_margins(observed: list[CellObservation]) -> list[CellObservation]:
    return [CellObservation(one.load_ops_s, one.outcome) for one in observed]


@pytest.mark.parametrize("outcome", ["met", "missed"])
def test_a_margin_that_is_0_once_rounded_counts_however_the_cell_ended(outcome: ValidOutcome) -> None:
    assert CellObservation(1_000, outcome, 0.0).evidence.margin == 0.0


def test_the_interval_holds_the_true_load_and_narrows_with_cells() -> None:
    few, many = of(cells(8)), of(cells(32))
    assert width(many) < width(few)
    for found in (few, many):
        assert found.low_ops_s is not None
        assert found.high_ops_s is not None
        assert found.low_ops_s < THRESHOLD < found.high_ops_s


@pytest.mark.parametrize("count", [32, 60])
def test_enough_cells_end_the_search_with_an_interval_as_wide_as_asked_and_no_narrower(count: int) -> None:
    found = of(cells(count))
    assert (found.stopped, found.decided_by, found.cells) == ("narrow", "margins", count)
    assert width(found) == pytest.approx(QUESTION.log_width, abs=0.001)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99])
def test_ends_keep_their_order_and_lie_further_out_the_more_is_asked(confidence: float) -> None:
    asked = Question(within=0.01, confidence=confidence, at_most=60)
    found = answer(asked, cells(8), 1_000, 32_000)
    surer = answer(replace(asked, confidence=(1 + confidence) / 2), cells(8), 1_000, 32_000)
    assert found.load_ops_s is not None
    assert (found.low_ops_s or 0.0) < found.load_ops_s < (found.high_ops_s or inf)
    assert (surer.low_ops_s or 0.0) < (found.low_ops_s or inf)


def test_cells_that_no_search_chose_make_an_interval_as_narrow_as_they_show() -> None:
    found = answer(replace(QUESTION, is_searched=False), cells(60), 1_000, 32_000)
    assert width(found) < QUESTION.log_width / 1.5


def test_other_variants_tell_how_much_cells_differ_and_not_where_the_threshold_lies() -> None:
    own = cells(8)
    elsewhere = [CellObservation(2 * one.load_ops_s, one.outcome, one.margin) for one in cells(24, seed=4)]
    beside = answer(QUESTION, own, 1_000, 32_000, [elsewhere, []])
    assert width(beside) < width(of(own))
    assert beside.low_ops_s is not None
    assert beside.high_ops_s is not None
    assert beside.low_ops_s < THRESHOLD < beside.high_ops_s
    assert beside == answer(QUESTION, own[::-1], 1_000, 32_000, [[], elsewhere[::-1]])


def test_one_hiccup_hardly_moves_the_answer() -> None:
    calm = cells(24)
    worst = CellObservation(calm[4].load_ops_s, "missed", 2.5)
    with_hiccup = [*calm[:4], worst, *calm[5:]]
    before, after = of(calm).load_ops_s, of(with_hiccup).load_ops_s
    assert before
    assert after
    assert abs(log(after / before)) < 0.1


def test_margins_beyond_a_factor_of_two_count_alike() -> None:
    calm = cells(12)
    assert of([*calm, CellObservation(20_000, "missed", 1.0)]) == of([*calm, CellObservation(20_000, "missed", 7.0)])


def test_a_censored_margin_counts_as_missed_however_much_of_it_was_seen() -> None:
    calm = cells(12)
    not_known, little, much, whole = (
        of([*calm, CellObservation(7_000, "missed", margin, is_censored=censored)]).load_ops_s
        for margin, censored in ((None, False), (0.05, True), (0.5, True), (0.05, False))
    )
    assert not_known
    assert whole
    assert little == much == not_known < whole


def test_a_margin_that_contradicts_its_outcome_is_left_out() -> None:
    calm = cells(12)
    by_errors = CellObservation(7_000, "missed", -0.4)
    assert of([*calm, by_errors]) == of([*calm, CellObservation(7_000, "missed")])


def test_outcomes_alone_give_an_answer_that_is_wider() -> None:
    observed = cells(12)
    alone = of(without_margins(observed))
    assert alone.decided_by == "outcomes"
    assert alone.load_ops_s is not None
    assert alone.low_ops_s is None or width(alone) > width(of(observed))


def test_margins_of_two_kinds_are_not_believed() -> None:
    dice = np.random.default_rng(1)
    loads = np.exp(np.linspace(log(5_000), log(12_000), 30))
    observed = []
    for load in loads:
        paused = dice.random() < 1 / (1 + (OWN_LOAD / load) ** 6)
        margin = float((0.4 if paused else -0.5) + 0.03 * dice.standard_normal())
        observed.append(CellObservation(float(load), "missed" if paused else "met", margin))
    assert of(observed).decided_by == "outcomes"


def test_drift_between_cells_keeps_the_true_load_inside() -> None:
    loads = np.exp(np.linspace(log(6_000), log(9_500), 8))
    drifting = [cell(float(load), 0.3 * (turn - 1)) for turn in range(3) for load in loads]
    found = of(drifting)
    assert found.low_ops_s is not None
    assert found.high_ops_s is not None
    assert found.low_ops_s < OWN_LOAD * np.exp(-1.2816 * 0.25 / 3) < found.high_ops_s


def test_loads_that_all_met_leave_the_upper_end_open() -> None:
    found = of([cell(1_000 * 1.1**step) for step in range(4)] * 2)
    assert found.low_ops_s is not None
    assert found.high_ops_s is None or found.high_ops_s > 1_400


def test_a_threshold_beyond_the_range_ends_the_search() -> None:
    met = [CellObservation(load, "met", -2.0) for load in (1_000, 4_000, 16_000, *[32_000] * 12)]
    missed = [CellObservation(load, "missed", 2.0) for load in (32_000, 8_000, 2_000, *[1_000] * 12)]
    assert (of(met).stopped, of(met).low_ops_s) == ("all met", 32_000)
    assert (of(missed).stopped, of(missed).high_ops_s) == ("all missed", 1_000)


def test_the_order_of_the_cells_does_not_matter() -> None:
    observed = cells(20)
    assert of(observed) == of(observed[::-1])


def test_without_cells_nothing_decided() -> None:
    assert of([]) == Answer(None, None, None, "nothing", "goes on", 0)


@pytest.mark.parametrize(
    ("load", "outcome", "margin", "is_censored"),
    [(0.0, "met", None, False), (100.0, "missed", float("nan"), False), (100.0, "met", -0.1, True)],
)
def test_impossible_observations_are_refused(
    load: float, outcome: str, margin: float | None, is_censored: bool
) -> None:
    with pytest.raises(ValueError, match="ops/s"):
        CellObservation(load, outcome, margin, is_censored)  # type: ignore[arg-type]


def test_cells_that_agree_well_do_not_move_the_threshold_of_a_calm_queue_below_loads_that_all_meet() -> None:
    dice = np.random.default_rng(3)

    def queued(load: float) -> CellObservation:
        margin = log(0.4 / (1 - 0.6 * load / 8_000)) + 0.1 * float(dice.standard_normal())
        return CellObservation(load, "met" if margin <= 0 else "missed", margin)

    observed = [queued(load) for load in range(5_000, 10_000, 500) for _ in range(5)]
    true_load = (1 - 0.4 * exp(1.2816 * 0.1)) / 0.6 * 8_000
    for is_searched in (True, False):
        found = answer(Question(is_searched=is_searched, at_most=60), observed, 1_000, 32_000)
        assert (found.low_ops_s or inf) < true_load < (found.high_ops_s or 0)
