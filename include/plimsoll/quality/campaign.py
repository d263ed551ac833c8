"""Is the data of a campaign fit to publish?"""

from __future__ import annotations

from collections import Counter
from math import nan
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign import distance
from plimsoll.domain.cell import grid
from plimsoll.domain.plurals import plural
from plimsoll.quality.environment import Deviation, deviations
from plimsoll.quality.expectation import Expected, Part, Quality, each_between, each_one_of, rows
from plimsoll.strategies.decision import StrategyOfCampaign

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from plimsoll.domain.cell import AttemptKey, Cell
    from plimsoll.domain.definition import Definition
    from plimsoll.domain.fingerprint import Fingerprint
    from plimsoll.domain.result import Verdict

RATE_SPREAD = 0.02
WORST_SPREAD = 3.0
_VALID = "valid"
_NOT_NEEDED = "not needed"
_FACT = ("variant", "fact", "cells")


def check_campaign(
    definition: Definition, verdicts: Sequence[Verdict], fingerprints: Mapping[AttemptKey, Fingerprint | None]
) -> Quality:
    """Every check over the whole campaign, with its Data Docs. The newest valid attempt of a cell counts."""
    from plimsoll.quality.engine import validate

    valid = _counted(verdicts)
    found = _deviations(valid, fingerprints)
    parts = (
        Part("Cells", _cells(definition, verdicts), cells_suite(definition), ("cell",)),
        Part("Repeats", _points(definition, valid), repeats_suite(definition), ("variant", "load_ops_s")),
        Part("Software", _facts(definition, [one for one in found if one.chosen]), software_suite(), _FACT),
        Part("Hardware", _facts(definition, [one for one in found if not one.chosen]), hardware_suite(), _FACT),
    )
    return validate(f"{definition.title}: is it fit to publish?", parts)


def cells_to_run_again(
    definition: Definition,
    verdicts: Sequence[Verdict],
    fingerprints: Mapping[AttemptKey, Fingerprint | None] | None = None,
) -> tuple[str, ...]:
    """Ids of the cells, in the definition's order, without a valid attempt or with other software than the rest."""
    valid = _counted(verdicts)
    odd = {cell for one in _deviations(valid, fingerprints or {}) if one.chosen for cell in one.cells}
    settled = {cell.id for cell in valid} | _not_needed(definition, valid)
    return tuple(cell.id for cell in grid(definition) if cell.id not in settled or cell.id in odd)


def cells_suite(definition: Definition) -> Sequence[Expected]:
    """Expected of the matrix, a row a cell."""
    count = len(grid(definition))
    needed = " that the search needs" if definition.has_rounds else ""
    return (
        Expected("matrix", *rows(count), f"the definition's {plural(count, 'cell')}, no more and no less"),
        Expected("valid cells", *each_one_of("state", _VALID, _NOT_NEEDED), f"a valid attempt at every cell{needed}"),
    )


def repeats_suite(definition: Definition) -> Sequence[Expected]:
    """Expected of each variant and load, a row each."""
    repeats = definition.repeats
    needed = ", less those that the search does not need" if definition.has_rounds else ""
    return (
        Expected(
            "repeats",
            *each_one_of("settled_repeats", repeats),
            f"{repeats} valid repeats of each variant and load{needed}",
        ),
        Expected(
            "spread of rates",
            *each_between("rate_spread", None, RATE_SPREAD),
            f"achieved rates of repeats within {RATE_SPREAD:.0%} of their median",
            "warning",
            "{:.1%}",
        ),
        Expected(
            "spread of response times",
            *each_between("worst_spread", None, WORST_SPREAD),
            f"the worst intervals of repeats within a factor of {WORST_SPREAD:g}",
            "warning",
            "{:.3g}",
        ),
    )


def software_suite() -> Sequence[Expected]:
    """Expected of what was deployed, a row a variant and fact."""
    meaning = "the same database, JVM, flags, system and load generator in all cells of a variant"
    return (Expected("one environment per variant", *each_one_of("values", 1), meaning),)


def hardware_suite() -> Sequence[Expected]:
    """Expected of the machines, a row a variant and fact."""
    meaning = "the same processor and memory in all cells of a variant"
    return (Expected("one hardware per variant", *each_one_of("values", 1), meaning, "warning"),)


def _counted(verdicts: Sequence[Verdict]) -> dict[Cell, Verdict]:
    ordered = sorted(verdicts, key=lambda verdict: verdict.key.attempt)
    return {verdict.cell: verdict for verdict in ordered if verdict.valid}


def _not_needed(definition: Definition, valid: Mapping[Cell, Verdict]) -> set[str]:
    """Ids of the cells that the definition's strategy leaves out, by what is valid so far."""
    outcomes = {cell.id: outcome for cell, verdict in valid.items() if (outcome := verdict.valid_outcome)}
    return set(StrategyOfCampaign(definition).next(outcomes).not_needed)


def _deviations(
    valid: Mapping[Cell, Verdict], fingerprints: Mapping[AttemptKey, Fingerprint | None]
) -> tuple[Deviation, ...]:
    known = {cell: fingerprints.get(verdict.key) for cell, verdict in valid.items()}
    return deviations({cell: fingerprint for cell, fingerprint in known.items() if fingerprint is not None})


def _cells(definition: Definition, verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """A row for each cell of the definition, and for each other one that was tried."""
    import pandas as pd

    states = dict.fromkeys((cell.id for cell in grid(definition)), "not run")
    states |= {verdict.cell.id: "invalid" for verdict in verdicts}
    states |= dict.fromkeys(_not_needed(definition, _counted(verdicts)), _NOT_NEEDED)
    states |= {verdict.cell.id: _VALID for verdict in verdicts if verdict.valid}
    return pd.DataFrame(states.items(), columns=["cell", "state"])


def _points(definition: Definition, valid: Mapping[Cell, Verdict]) -> pd.DataFrame:
    """A row for each variant and load; spreads are NaN where fewer than two repeats are known."""
    import pandas as pd

    repeats: dict[tuple[str, int], list[Verdict]] = {(c.variant, c.load_ops_s): [] for c in grid(definition)}
    for cell, verdict in valid.items():
        repeats.setdefault((cell.variant, cell.load_ops_s), []).append(verdict)
    left_out = _not_needed(definition, valid)
    spared = Counter((c.variant, c.load_ops_s) for c in grid(definition) if c.id in left_out)
    table = [
        (
            *point,
            len(here),
            len(here) + spared[point],
            _spread(here, _rate, _to_median),
            _spread(here, distance, _to_lowest),
        )
        for point, here in repeats.items()
    ]
    columns = ["variant", "load_ops_s", "valid_repeats", "settled_repeats", "rate_spread", "worst_spread"]
    return pd.DataFrame(table, columns=columns)


def _spread(
    verdicts: Sequence[Verdict],
    figure: Callable[[Verdict], float | None],
    width: Callable[[Sequence[float]], float],
) -> float:
    values = [value for value in map(figure, verdicts) if value]
    return width(values) if len(values) > 1 else nan


def _rate(verdict: Verdict) -> float | None:
    return verdict.achieved_ops_s


def _to_median(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / median(values)


def _to_lowest(values: Sequence[float]) -> float:
    return max(values) / min(values)


def _facts(definition: Definition, found: Sequence[Deviation]) -> pd.DataFrame:
    """A row for each deviation, and one for each variant without any."""
    import pandas as pd

    odd = {one.variant for one in found}
    even = [(variant.id, "everything compared", 1, "") for variant in definition.variants if variant.id not in odd]
    odd_ones = [(one.variant, one.fact, one.values, f"not {one.usual}: {', '.join(one.cells)}") for one in found]
    return pd.DataFrame([*odd_ones, *even], columns=["variant", "fact", "values", "cells"])
