"""What repeats can show: bounds, coverage, and comparison with a control. The methods are exact, without simulation.

Sources: Clopper and Pearson, Biometrika 26 (1934), the exact binomial bound. Mann and Whitney, Ann. Math. Stat. 18
(1947), and van Elteren, Bull. ISI 37 (1960), the rank test within strata. Streitberg and Röhmel, Stat. Softw. Newsl. 12
(1986), its exact distribution with ties. Holm, Scand. J. Stat. 6 (1979), several comparisons at once. Vargha and
Delaney, J. Educ. Behav. Stat. 25 (2000), superiority. Hodges and Lehmann, Ann. Math. Stat. 34 (1963), the shift.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import ceil, comb, inf, log
from operator import itemgetter
from statistics import median
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from plimsoll.analysis.campaign.cell_results import CellResult, values_by_load
from plimsoll.analysis.campaign.series import LEAST_MS, grids_disagree
from plimsoll.domain.text.base import Model

CONFIDENCE = 0.95
_FEW_REPEATS = 3
Stratum = tuple[Sequence[float], Sequence[float]]
WorstByLoad = Mapping[tuple[str, int], Sequence[float]]
Conclusion = Literal["higher", "lower", "no difference shown", "too few repeats"]


class Repeats(Model):
    """The statements that a number of repeats allows at best, whatever was measured."""

    repeats: int
    pass_probability_bound: Annotated[float, Field(description="Lower bound on the pass probability if all pass")]
    median_coverage: Annotated[float, Field(description="Chance that lowest to highest repeat enclose the median")]
    passes_for_90_percent: Annotated[int, Field(description="Passes in a row that would show a probability of 0.9")]
    grids_disagree: Annotated[
        float | None,
        Field(
            description="Chance that two full grids of one system find different capacities, where the chance to be "
            "met falls from 88 % to 12 % within one step of load"
        ),
    ] = None


class Comparison(Model):
    """A variant compared with the control by the worst interval of each repeat, with repeats ranked within each load.

    `ratio` and `superiority` give the size of the difference; `p_holm` says whether chance alone could have made it.
    """

    variant: str
    control: str
    loads: Annotated[tuple[int, ...], Field(description="Loads (ops/s) with at least two valid repeats of both")]
    ratio: Annotated[
        float | None,
        Field(
            description="Typical worst interval / the control's (Hodges-Lehmann); null where failed operations, which "
            "have no time, leave it open"
        ),
    ]
    superiority: Annotated[
        float | None, Field(description="Chance that a repeat's worst interval is above a control's; 0.5: alike")
    ]
    p_value: Annotated[float | None, Field(description="Two-sided, exact, stratified by load")]
    p_holm: Annotated[float | None, Field(description="The same after Holm's correction for all comparisons")]
    smallest_p: Annotated[float | None, Field(description="The smallest p value that these repeats could have given")]
    conclusion: Conclusion


def pass_probability_bound(passes: int, repeats: int) -> float:
    """Return the one-sided Clopper-Pearson lower bound on a repeat's probability to pass.

    For k passes of k it is (1 - CONFIDENCE)^(1/k): five of five passes bound the probability by only 0.549. Raises
    ValueError unless 0 ≤ passes ≤ repeats.
    """
    if not 0 <= passes <= repeats:
        raise ValueError(f"{passes} passes of {repeats} repeats")
    if passes == 0:
        return 0.0
    if passes == repeats:
        return float((1 - CONFIDENCE) ** (1 / repeats))
    from scipy.special import betaincinv  # half a second to import, rarely needed

    return float(betaincinv(passes, repeats - passes + 1, 1 - CONFIDENCE))


def median_coverage(repeats: int) -> float:
    """Return the chance that the range of that many repeats contains the true median: 1 - 2^(1-n)."""
    return float(1 - 2.0 ** (1 - repeats))


def power_of(repeats: int) -> Repeats:
    return Repeats(
        repeats=repeats,
        pass_probability_bound=pass_probability_bound(repeats, repeats),
        median_coverage=median_coverage(repeats),
        passes_for_90_percent=ceil(log(1 - CONFIDENCE) / log(0.9)),
        grids_disagree=grids_disagree(repeats, width=0.25),
    )


def are_few(repeats: int) -> bool:
    """Tell whether so few repeats can't show how much a result varies, so that nothing is extrapolated from them."""
    return repeats < _FEW_REPEATS


def smallest_corrected_p(comparison: Comparison, comparisons: int) -> float | None:
    """Return the smallest p value that the repeats could have given after Holm's correction; None: no repeats."""
    return None if comparison.smallest_p is None else min(1.0, comparison.smallest_p * comparisons)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Apply Holm's step-down adjustment, in order; None is no test. Results compare with the significance level."""
    known = {index: p_value for index, p_value in enumerate(p_values) if p_value is not None}
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (index, p_value) in enumerate(sorted(known.items(), key=itemgetter(1))):
        highest = max(highest, min(1.0, (len(known) - rank) * p_value))
        adjusted[index] = highest
    return tuple(adjusted)


def superiority(strata: Sequence[Stratum]) -> float:
    """Compute Vargha and Delaney's A over all strata: the share of a stratum's pairs with x > y. Ties count half."""
    pairs = [(x, y) for xs, ys in strata for x, y in product(xs, ys)]
    return sum((x > y) + (x == y) / 2 for x, y in pairs) / len(pairs)


def typical_ratio(strata: Sequence[Stratum]) -> float:
    """Compute Hodges and Lehmann's shift on the log scale: median ratio x / y of strata's pairs. Values: > 0."""
    return median(_ratios(strata))


def _ratios(strata: Sequence[Stratum]) -> list[float]:
    return sorted(x / y for xs, ys in strata for x, y in product(xs, ys))


def typical_interval(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float, float]:
    """Return the interval of the typical ratio x / y, and the chance that it contains the true one.

    It is Hodges and Lehmann's, on the log scale: of the ordered ratios of all pairs as many are left out at both ends
    as leave a chance of 95 %. So few repeats that none can be left out have a lower one: all pairs of two and two
    repeats contain it with 67 %, of three and three with 90 %.
    """
    pairs, ranks = _ratios([(xs, ys)]), range(1, len(xs) + len(ys) + 1)
    lowest = len(xs) * (len(xs) + 1)
    # Ranks are doubled here: the least sum is n (n + 1), and only every other sum occurs
    below = np.cumsum(_rank_sums([2 * rank for rank in ranks], len(xs))[lowest::2])
    out = max(0, int(np.searchsorted(below, (1 - CONFIDENCE) / 2, side="right")) - 1)
    return pairs[out], pairs[-1 - out], max(0.0, 1 - 2 * float(below[out]))


def stratified_rank_test(strata: Sequence[Stratum]) -> tuple[float, float]:
    """Return the exact two-sided p value of the Mann-Whitney test within strata, and the smallest possible p value.

    The statistic is the sum of the first samples' midranks over strata. Its distribution under exchange within each
    stratum is the convolution of the strata's distributions. Two-sided: twice the smaller tail, at most 1.
    """
    total, distribution = 0, np.ones(1)
    for xs, ys in strata:
        values = [*xs, *ys]
        # Midranks, doubled, so that they are whole numbers.
        ranks = [sum(2 * (other < value) + (other == value) for other in values) + 1 for value in values]
        total += sum(ranks[: len(xs)])
        distribution = np.convolve(distribution, _rank_sums(ranks, len(xs)))
    possible = np.flatnonzero(distribution)
    tails = distribution[: total + 1].sum(), distribution[total:].sum()
    ends = distribution[possible[0]], distribution[possible[-1]]
    return min(1.0, 2 * float(min(tails))), min(1.0, 2 * float(min(ends)))


def compare_with_control(cells: Sequence[CellResult], control: str | None) -> tuple[Comparison, ...]:
    """Compare every other variant with the control by the first service level's worst interval; empty without one.

    Loads where either has fewer than two valid repeats are left out, because one repeat shows nothing about spread.
    """
    variants = dict.fromkeys(result.cell.variant for result in cells)
    others = [variant for variant in variants if control is not None and variant != control]
    worst = worst_by_load(cells)
    return conclude([compare(variant, str(control), strata(worst, variant, worst, str(control))) for variant in others])


def compare(variant: str, control: str, by_load: Mapping[int, Stratum]) -> Comparison:
    """Compare a variant with the control, with `by_load` as `strata` returns it. `conclude` has the conclusion."""
    samples = list(by_load.values())
    p_value, smallest = stratified_rank_test(samples) if samples else (None, None)
    return Comparison(
        variant=variant,
        control=control,
        loads=tuple(by_load),
        ratio=_known_ratio(samples),
        superiority=superiority(samples) if samples else None,
        p_value=p_value,
        p_holm=None,
        smallest_p=smallest,
        conclusion="too few repeats",
    )


def _known_ratio(samples: Sequence[Stratum]) -> float | None:
    """Return the typical ratio of times, ms; None where infinite ones, whose size is not known, leave it open."""
    if not samples or any(inf in xs and inf in ys for xs, ys in samples):
        return None
    ratios = _ratios([([x or LEAST_MS for x in xs], [y or LEAST_MS for y in ys]) for xs, ys in samples])
    middle = ratios[(len(ratios) - 1) // 2], ratios[len(ratios) // 2]
    return median(middle) if middle[0] > 0 and middle[1] < inf else None


def conclude(compared: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return the comparisons with Holm's correction over all of them, each with its conclusion."""
    adjusted = holm([comparison.p_value for comparison in compared])
    tests = len(adjusted) - adjusted.count(None)
    return tuple(
        comparison.model_copy(update={"p_holm": p_holm, "conclusion": _conclusion(comparison, p_holm, tests)})
        for comparison, p_holm in zip(compared, adjusted, strict=True)
    )


def worst_by_load(cells: Iterable[CellResult]) -> WorstByLoad:
    """Return the worst interval of the first service level, ms, of every valid repeat by (variant, load).

    Infinite where failed operations decided an interval, since these are slower than every answer.
    """
    return values_by_load(cells, lambda verdict: verdict.levels[0].ranked_ms if verdict.levels else None)


def strata(worst: WorstByLoad, variant: str, control_worst: WorstByLoad, control: str) -> dict[int, Stratum]:
    """Return the repeats of a variant and of its control by load, at loads where both have at least two valid ones."""
    loads = sorted(load for name, load in worst if name == variant)
    pairs = {load: (worst[variant, load], control_worst.get((control, load), ())) for load in loads}
    return {load: (xs, ys) for load, (xs, ys) in pairs.items() if min(len(xs), len(ys)) > 1}


def _conclusion(comparison: Comparison, p_holm: float | None, comparisons: int) -> Conclusion:
    level = 1 - CONFIDENCE
    smallest = smallest_corrected_p(comparison, comparisons)
    if p_holm is None or smallest is None or comparison.superiority is None or smallest > level:
        return "too few repeats"
    if p_holm > level:
        return "no difference shown"
    return "higher" if comparison.superiority > 0.5 else "lower"


def _rank_sums(ranks: Sequence[int], chosen: int) -> NDArray[np.float64]:
    """Return the probability of each sum of `chosen` of the ranks, all equally likely (the shift algorithm)."""
    ways: NDArray[np.float64] = np.zeros((chosen + 1, sum(ranks) + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    shares: NDArray[np.float64] = ways[chosen] / comb(len(ranks), chosen)
    return shares
