"""The capacity of each variant in words. Page, terminal and summary all take their text from here."""

from collections.abc import Callable
from datetime import timedelta
from math import ceil, floor, log10

from plimsoll.analysis.campaign.capacity import Capacity, Rung
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.thresholds import ThresholdAnswer
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.domain.text.units import format_duration
from plimsoll.report.formatting import NOTHING, listing, ops, percent, plural

_WHY_ENDED = {
    "most cells": "; as many cells ran as may, before the interval was as narrow as asked",
    "goes on": "; more cells would make the interval narrower",
}


def sentence(findings: Findings, capacity: Capacity) -> str:
    label = findings.labels[capacity.variant]
    if capacity.asked:
        return f"{label}: {threshold_sentence(capacity.asked)}."
    at, following = capacity.at_capacity, capacity.next_load
    if at is None:
        return f"{label}: {_without_capacity(capacity)}."
    met = "the only repeat met" if at.repeats == 1 else f"all {at.repeats} repeats met"
    carried = f"{label} carries {headline(capacity)}{short_of_rate(capacity)}{in_this_stage(capacity)}"
    return f"{carried}: {met} the service level {_where(capacity)}; {_beyond(following)}."


def headline(capacity: Capacity) -> str:
    """Return the capacity as a figure: `40,000 ops/s`, `at least …`, `none: below the lowest load`, `unknown`."""
    if capacity.kind == "none":
        return "none: below the lowest load"
    if capacity.asked and not is_highest_load(capacity):
        return threshold_words(capacity.asked)
    if capacity.kind == "unknown":
        return "unknown"
    figure = carried_rate(capacity)
    return figure if capacity.kind == "found" else f"at least {figure}"


def is_highest_load(capacity: Capacity) -> bool:
    """Tell whether the highest load was met, and that is why the capacity is at least so much."""
    return capacity.kind == "at-least" and (capacity.asked is None or capacity.asked.stopped == "all met")


def carried_rate(capacity: Capacity) -> str:
    """Return the rate at the capacity: `300 ops/s`, or `270 ops/s of 300 ops/s` where less was answered."""
    # A load that was not run is never named as one that is carried.
    short = f"{ops(capacity.carried_ops_s)} of " if short_of_rate(capacity) else ""
    return f"{short}{ops(capacity.capacity_ops_s)}"


def short_of_rate(capacity: Capacity) -> str:
    """Return a remark where not every repeat at the capacity achieved its rate."""
    at = capacity.at_capacity
    return " (the rate that was achieved)" if at and at.rate_not_achieved else ""


def in_this_stage(capacity: Capacity) -> str:
    """Return a remark where misses in other stages take the capacity away."""
    return " in this stage alone" if capacity.falls_by else ""


def rung_outcome(rung: Rung) -> str:
    """Return the outcome of a load's repeats: `3 of 5 repeats missed`, `2 of 3 repeats met, 1 invalid`."""
    reasons = [f"{count} by {reason}" for reason, count in _reasons(rung).items()]
    missed = f"missed ({', '.join(reasons)})" if reasons else "missed"
    count, outcome = (rung.missed, missed) if rung.outcome == "missed" else (rung.met, "met")
    return ", ".join([f"{count} of {plural(rung.repeats, 'repeat')} {outcome}", *open_repeats(rung)])


def _reasons(rung: Rung) -> dict[str, int]:
    """Return the number of repeats that missed, by reason: errors, rate, a stop rule, a service level of several."""
    return {**{level: count for level, count in rung.missed_by_level.items() if count}, **kept_but_missed(rung)}


def kept_but_missed(rung: Rung) -> dict[str, int]:
    """Return the number of repeats that missed although they kept every service level, by reason."""
    counts = {"errors": rung.missed_by_errors, "rate": rung.missed_by_rate, "a stop rule": rung.missed_by_stop_rule}
    return {reason: count for reason, count in counts.items() if count}


def open_repeats(rung: Rung) -> list[str]:
    counts = ((rung.invalid, "invalid"), (rung.not_run, "not run"), (rung.not_needed, "not needed"))
    return [f"{count} {outcome}" for count, outcome in counts if count]


def threshold_words(answer: ThresholdAnswer | None) -> str:
    """Return the load that is met with a chance, with its interval: `44,700 ops/s (40,000 to 51,400)`."""
    if answer is None:
        return NOTHING
    bounds = _bounds(answer.low_ops_s, answer.high_ops_s)
    if answer.ops_s is None or not bounds:
        return f"{bounds} ops/s" if bounds else "not known"
    return f"{ops(_rounded(answer.ops_s))} ({bounds})"


def threshold_sentence(answer: ThresholdAnswer) -> str:
    """Return the load with its interval, what it is met with, and what decided it."""
    chance, sure = percent(answer.chance, 0), percent(answer.confidence, 0)
    over = f", over {format_duration(timedelta(seconds=answer.over_s))}" if answer.over_s else ""
    basis = f"by the {answer.decided_by} of {plural(answer.cells, 'cell')}"
    where = {
        "all met": f"every load of the range is met with a chance of {chance}{over}",
        "all missed": f"no load of the range is met with a chance of {chance}{over}",
    }.get(answer.stopped, f"{threshold_words(answer)} is met with a chance of {chance}{over} (the interval: {sure})")
    return f"{where}, {basis}{_WHY_ENDED.get(answer.stopped, '')}"


def step_sentence(findings: Findings) -> str:
    """Return the meaning of a difference of one load step between two capacities; empty where that is not known."""
    share = findings.repeats.grids_disagree
    if share is None or findings.part.asks == "at a load" or isinstance(findings.part.strategy, Threshold):
        return ""
    return (
        "A difference of one step of load is no change: two full grids of one and the same system, with "
        f"{plural(findings.part.repeats, 'repeat')}, find different capacities in {percent(share, 0)} of cases "
        "if the chance to be met falls from 88 % to 12 % within one step."
    )


def _bounds(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{_rounded(low, _down):,} to {_rounded(high, _up):,}"
    if low is not None:
        return f"at least {_rounded(low, _down):,}"
    return "" if high is None else f"at most {_rounded(high, _up):,}"


def _rounded(load: float, way: Callable[[float], int] = round) -> int:
    """Return the load (> 0, ops/s) to three significant digits, as a whole number."""
    step = int(10 ** max(0, floor(log10(load)) - 2))
    return way(load / step) * step


# An end that is a whole number but for its last bits stays that number
def _down(value: float) -> int:
    return floor(value + 1e-9)


def _up(value: float) -> int:
    return ceil(value - 1e-9)


def _without_capacity(capacity: Capacity) -> str:
    lowest = capacity.rungs[0]
    carried = "no load of this campaign was carried" if capacity.kind == "none" else "the capacity is unknown"
    return f"{carried}; {_beyond(lowest, 'the lowest load, ')}"


def _where(capacity: Capacity) -> str:
    """Return the loads at which the service level was met, as far as they were run."""
    at = capacity.capacity_ops_s or 0
    lower = [rung for rung in capacity.rungs if rung.load_ops_s < at]
    if not lower:
        return "there"
    if all(rung.outcome == "met" for rung in lower):
        return "there and at every lower load"
    run = [ops(rung.load_ops_s) for rung in lower if rung.outcome == "met"]
    guarded = f" and at {listing(run)}" if run else ""
    return f"there{guarded} (lower loads were not run in full: a fast search takes them for met)"


def _beyond(following: Rung | None, remark: str = "") -> str:
    if following is None:
        return "no higher load was run"
    where = f"at {ops(following.load_ops_s)}, {remark}"
    if not following.missed == following.repeats == 1:
        return f"{where}{rung_outcome(following)}"
    return f"{where}the only repeat missed{''.join(f' (by {reason})' for reason in _reasons(following))}"
