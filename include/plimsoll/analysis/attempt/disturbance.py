"""Whether noise of the machines explains a miss: what disturbed the hosts in each missed interval, beyond its bound.

Noise makes response times longer and never shorter, so it can't turn a miss into a result that was met. A miss counts
if at least one missed interval was undisturbed. A figure that was not sampled disturbs nothing: without evidence of
noise a miss counts. An interval without any answer counts, too, unless noise took nearly all of it: a database that
keeps some of its processors answers some operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plimsoll.analysis.attempt.hosts import PERIOD_S, Span, by_host, means, overlaps_s, sampled
from plimsoll.analysis.attempt.judgement import MissedInterval
from plimsoll.analysis.attempt.unanswered import LATE, OLD
from plimsoll.analysis.logs.operations import Floats

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.domain.keys.host_bounds import Disturbance
    from plimsoll.domain.keys.process import GeneratorSecond

TOP, GROUP, WAITED = "others_top", "throttled_group", "throttled_ms"
_TOUCHES = 0.1
"""Share of a second that must lie in an interval, so that the second's longest stall counts there."""
_MOST_PROGRAMS, _MOST_CAUSES = 3, 3
_SILENCING = 0.9
"""Least share of an interval's processor time that noise must take to explain that nothing was answered in it."""


@dataclass(frozen=True)
class Collected:
    """Data about noise in a timed run that began at `started_at`.

    `samples`: the hosts' figures, `seconds`: the load generator's own; both empty where nothing was sampled.
    `ahead_ms`: how far each host's clock is ahead of the load generator's. `attempted_ops_s`: the cell's load.
    """

    started_at: datetime
    samples: pd.DataFrame
    seconds: Sequence[GeneratorSecond]
    ahead_ms: Mapping[str, float]
    attempted_ops_s: float


class Noise(NamedTuple):
    """One kind of noise on one host, in all missed intervals in which it was beyond its bound.

    `amounts`, by the interval's number: shares, or ms of the load generator's lateness. `bound` is in the same unit.
    """

    kind: str
    host: str
    amounts: Mapping[int, float]
    bound: float

    @property
    def size(self) -> float:
        """Tell how many times its bound the greatest amount was."""
        return max(self.amounts.values()) / self.bound


@dataclass(frozen=True)
class Disturbed:
    """The cause of the disturbance of every missed interval, as a sentence, and the greatest multiple of a bound."""

    sentence: str
    size: float


_SHARES: Mapping[str, tuple[str, str]] = {
    "cpu_others": ("foreign_cpu", "other programs took {amount} of the processors of {host}"),
    "cpu_steal": ("steal", "other machines took {amount} of the processors of {host}"),
    "cpu_throttled": ("throttled", "a CPU quota on {host} was used up in {amount} of all periods"),
}
"""Column of the samples → the key of its bound, and the words for it."""
_TIMES: Mapping[str, str] = {
    "generator": "the load generator on {host} stalled or was late by {amount}",
    "backlog": "noise before it had left {amount} of the load without an answer on {host}",
}
"""The same of noise in ms."""


def is_known(collected: Collected) -> bool:
    """Tell whether anything was sampled that can show noise."""
    return not collected.samples.empty or bool(collected.seconds)


def disturbed(missed: Sequence[MissedInterval], collected: Collected, bounds: Disturbance) -> Disturbed | None:
    """Tell what disturbed the missed intervals, if noise was beyond its bounds in each of them; otherwise None."""
    start_s = collected.started_at.timestamp()
    within = tuple(Span(start_s + interval.start_s, start_s + interval.end_s) for interval in missed)
    silent = {number for number, interval in enumerate(missed) if interval.is_silent}
    noises = [*_of_hosts(within, collected, bounds, silent), *_of_generator(missed, within, collected, bounds)]
    noises += _left_behind(missed, within, collected, bounds, _numbers(noises))
    if not missed or _numbers(noises) != set(range(len(missed))):
        return None
    noises.sort(key=lambda noise: noise.size, reverse=True)
    sentences = [_sentence(noise, within, collected) for noise in noises[:_MOST_CAUSES]]
    more = f"; {len(noises) - _MOST_CAUSES} more" if len(noises) > _MOST_CAUSES else ""
    intervals = "the only missed interval" if len(missed) == 1 else f"each of {len(missed)} missed intervals"
    return Disturbed(f"noise in {intervals}: {'; '.join(sentences)}{more}", noises[0].size)


def _numbers(noises: Iterable[Noise]) -> set[int]:
    return {number for noise in noises for number in noise.amounts}


def _of_hosts(
    within: tuple[Span, ...], collected: Collected, bounds: Disturbance, silent: Collection[int] = ()
) -> Iterator[Noise]:
    """Yield what took the processors of hosts. `silent`: the numbers of spans in which nothing was answered."""
    for host, own in by_host(collected.samples, collected.ahead_ms):
        for column, (key, _) in _SHARES.items():
            bound = getattr(bounds, key) / 100
            shares = means(own.assign(**{column: sampled(own, column)}), column, within)
            # NaN, which is not sampled, is beyond no bound.
            least = [max(bound, _SILENCING) if number in silent else bound for number in range(len(within))]
            if amounts := {n: float(share) for n, share in enumerate(shares) if share > least[n]}:
                yield Noise(column, host, amounts, bound)


def _of_generator(
    missed: Sequence[MissedInterval], within: Sequence[Span], collected: Collected, bounds: Disturbance
) -> Iterator[Noise]:
    """Yield the load generator's own lateness, where it is long enough and a large part of what the interval lost.

    A saturated database on the same machine may hold up the load generator too. It is then late by far less than the
    operations that the database answers.
    """
    if not collected.seconds:
        return
    ends = np.array([second.at.timestamp() for second in collected.seconds])
    # A load generator that stalls reports late, and then of all the time since its report before
    begins = np.concatenate([[ends[0] - PERIOD_S], ends[:-1]])
    lates = np.array([max(second.hiccup_ms, second.lag_ms or 0.0) for second in collected.seconds])
    late_ms: dict[str, dict[int, float]] = {}
    least: dict[str, float] = {}
    for number, (interval, span) in enumerate(zip(missed, within, strict=True)):
        latest = _latest(begins, ends, lates, span)
        bound_ms = bounds.generator_lag / timedelta(milliseconds=1) if bounds.generator_lag else interval.stall_ms
        # The load generator's own lateness explains a miss from half of the interval's late time on
        if latest is not None and lates[latest] >= max(bound_ms, 0.5 * interval.late_ms):
            host = collected.seconds[latest].host
            late_ms.setdefault(host, {})[number] = float(lates[latest])
            least[host] = min(least.get(host, bound_ms), bound_ms)
    yield from (Noise("generator", host, amounts, least[host]) for host, amounts in late_ms.items())


def _left_behind(
    missed: Sequence[MissedInterval], within: Sequence[Span], collected: Collected, bounds: Disturbance, noisy: set[int]
) -> Iterator[Noise]:
    """Yield the backlog with which intervals began, where noise of the interval before left it and it makes them miss.

    When a burst of noise ends, the operations that waited are answered in the next interval, which is calm.
    """
    before = tuple(Span(2 * span.begin_s - span.end_s, span.begin_s) for span in within)
    after_noise, amounts = _numbers(_of_hosts(before, collected, bounds)), dict[int, float]()
    behind_ms = _behind_ms(within, collected)
    for number, span in enumerate(within):
        # A database that has a backlog to answer is not silent
        if number in noisy or missed[number].is_silent or behind_ms[number] <= missed[number].stall_ms:
            continue
        before_it = (other for other in reversed(range(number)) if _follows(span, within[other]))
        if number in after_noise or any(other in noisy or other in amounts for other in before_it):
            amounts[number] = behind_ms[number]
    if amounts:
        bound_ms = min(missed[number].stall_ms for number in amounts)
        yield Noise("backlog", collected.seconds[0].host, amounts, bound_ms)


def _follows(span: Span, other: Span) -> bool:
    """Tell whether a span begins where another one of its length ends, for all that is known of their times."""
    is_as_long = abs((span.end_s - span.begin_s) - (other.end_s - other.begin_s)) < _TOUCHES * PERIOD_S
    return is_as_long and abs(span.begin_s - other.end_s) < PERIOD_S


def _behind_ms(within: Sequence[Span], collected: Collected) -> Sequence[float]:
    """Return how much load had no answer when each span began, ms of the attempted rate; 0 where it is not known."""
    known = [second for second in collected.seconds if second.in_flight is not None and second.backlog is not None]
    ends = np.array([second.at.timestamp() for second in known])
    behind = []
    for span in within:
        last = int(np.searchsorted(ends, span.begin_s + LATE.total_seconds(), "right")) - 1
        is_recent = last >= 0 and ends[last] >= span.begin_s - OLD.total_seconds()
        waiting = (known[last].in_flight or 0) + (known[last].backlog or 0) if is_recent else 0
        behind.append(waiting / collected.attempted_ops_s * 1000)
    return behind


def _latest(begins: Floats, ends: Floats, lates: Floats, span: Span) -> int | None:
    """Return the number of the second in the span in which the load generator was latest; None where there is none."""
    first, last = np.searchsorted(ends, span.begin_s, "right"), np.searchsorted(begins, span.end_s, "left")
    near = slice(int(first), int(last))
    inside = np.minimum(ends[near], span.end_s) - np.maximum(begins[near], span.begin_s)
    touching = np.flatnonzero(inside > _TOUCHES * (ends[near] - begins[near]))
    return int(first + touching[np.argmax(lates[near][touching])]) if len(touching) else None


def _sentence(noise: Noise, within: Sequence[Span], collected: Collected) -> str:
    """Say what took how much, on which host, when, and beyond which bound."""
    numbers, amounts = list(noise.amounts), noise.amounts.values()
    if noise.kind in _TIMES:
        words, bound = _TIMES[noise.kind], f"{noise.bound:.0f} ms"
        low, high = f"{min(amounts):.0f}", f"{max(amounts):.0f} ms"
    else:
        words, bound = _SHARES[noise.kind][1], f"{noise.bound:.0%}"
        low, high = f"{min(amounts):.1%}", f"{max(amounts):.1%}"
    amount = high if low == high.removesuffix(" ms") else f"{low} to {high}"
    begin, end = (datetime.fromtimestamp(at, UTC) for at in (within[numbers[0]].begin_s, within[numbers[-1]].end_s))
    some = f" in {len(numbers)} of them" if len(numbers) < len(within) else ""
    detail = _DETAILS[noise.kind](noise, within, collected) if noise.kind in _DETAILS else ""
    sentence = words.format(amount=amount, host=noise.host)
    return f"{sentence}{some} ({begin:%H:%M:%S} to {end:%H:%M:%S} UTC, allowed: {bound}{detail})"


def _held_s(noise: Noise, within: Sequence[Span], collected: Collected) -> tuple[pd.DataFrame, Floats]:
    """Return the host's samples, and for how long each holds within all intervals with this noise, s."""
    own = next(own for host, own in by_host(collected.samples, collected.ahead_ms) if host == noise.host)
    return own, np.sum([overlaps_s(own, within[number]) for number in noise.amounts], axis=0)


def _programs(noise: Noise, within: Sequence[Span], collected: Collected) -> str:
    """Return the programs that took most, where they were seen, with the share of each over all these intervals."""
    own, held = _held_s(noise, within, collected)
    if TOP not in own:
        return ""
    taken: Counter[str] = Counter()
    for text, seconds in zip(own[TOP], held, strict=True):
        for entry in str(text).split(";") if seconds else ():
            name, _, share = entry.rpartition("=")
            if name:
                taken[name] += float(share) * seconds
    whole = sum(within[number].end_s - within[number].begin_s for number in noise.amounts)
    most = [f"{name} {seconds / whole:.1%}" for name, seconds in taken.most_common(_MOST_PROGRAMS)]
    return f"; most by {', '.join(most)}" if most else ""


def _quota(noise: Noise, within: Sequence[Span], collected: Collected) -> str:
    """Return whose quota it was and for how long processes waited for it, where that was sampled, and a way out."""
    own, held = _held_s(noise, within, collected)
    if GROUP not in own:
        return ""
    waited_s = sampled(own, WAITED).fillna(0) / 1000 / (own["end_s"] - own["begin_s"]) * held
    groups = ", ".join(sorted({str(name) for name in own[GROUP][held > 0].dropna()} - {""}))
    return (
        f"; processes of control group {groups} waited for {waited_s.sum():.1f} s, over all processors: "
        "raise its limit, or write `disturbance: {throttled: 100%}` where it is part of what is measured"
    )


_DETAILS: Mapping[str, Callable[[Noise, Sequence[Span], Collected], str]] = {
    "cpu_others": _programs,
    "cpu_throttled": _quota,
}
