"""Check whether the data of a campaign is fit to publish."""

from __future__ import annotations

from collections import Counter
from math import nan
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.cell_results import distance
from plimsoll.domain.keys.strategy import Threshold, chooses_cells
from plimsoll.domain.text.wording import plural
from plimsoll.quality.deviations import Deviation, deviations
from plimsoll.quality.engine import validate
from plimsoll.quality.expectation import CheckedTable, Expected, Quality, each_between, each_one_of, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

    from plimsoll.domain.attempt.result import Verdict
    from plimsoll.domain.campaign.campaign import Campaign
    from plimsoll.domain.campaign.cell import AttemptKey, Cell
    from plimsoll.domain.campaign.part import Part
    from plimsoll.domain.hosts.fingerprint import Fingerprint
    from plimsoll.strategies.state import AttemptRecord, CellAttempts, State

RATE_SPREAD = 0.02
WORST_SPREAD = 3.0
_VALID = "valid"
_NOT_NEEDED = "not needed"
_POINT = ("variant", "load_ops_s")
_OF_MISSING = ("valid cells", "repeats")
"""The checks that fail wherever a cell has no valid attempt."""
_FACT = ("variant", "fact", "cells")
_ONE_MEASURE = Expected(
    "one measure",
    *each_one_of("measures", 1),
    "response times alone or service times alone, since the two can't be compared",
)
_ONE_SOFTWARE = Expected(
    "one environment per variant",
    *each_one_of("values", 1),
    "the same database, JVM, flags, system and load generator in all cells of a variant",
)
_ONE_HARDWARE = Expected(
    "one hardware per variant",
    *each_one_of("values", 1),
    "the same processor, memory and data disk in all cells of a variant",
    "warning",
)
_NEAR_MEDIAN = f"achieved rates of repeats within {RATE_SPREAD:.0%} of their median"
_NEAR_WORST = f"the worst intervals of repeats within a factor of {WORST_SPREAD:g}"
_SPREADS = (
    Expected("spread of rates", *each_between("rate_spread", None, RATE_SPREAD), _NEAR_MEDIAN, "warning", "{:.1%}"),
    Expected(
        "spread of response times", *each_between("worst_spread", None, WORST_SPREAD), _NEAR_WORST, "warning", "{:.3g}"
    ),
)
"""How much repeats may differ: expectations of one row per variant and load."""


def check_campaign(state: State, fingerprints: Mapping[AttemptKey, Fingerprint | None]) -> Quality:
    """Return every check over the whole campaign, with its Data Docs. `fingerprints`: by attempt; else None."""
    campaign = state.campaign
    differing = _deviations(state, fingerprints)
    software = [deviation for deviation in differing if deviation.chosen]
    hardware = [deviation for deviation in differing if not deviation.chosen]
    parts = (
        CheckedTable("Cells", _cells(state), cells_suite(state), ("cell",)),
        *(
            CheckedTable(
                f"Repeats, stage {part.stage}" if part.stage else "Repeats",
                _points(state, part.stage),
                (*repeats_suite(part), *_SPREADS),
                _POINT,
            )
            for part in (stage.first for stage in campaign.stages)
        ),
        CheckedTable("Measure", _measures(state), (_ONE_MEASURE,), ("part", "cells")),
        CheckedTable("Software", _facts(campaign, software), (_ONE_SOFTWARE,), _FACT),
        CheckedTable("Hardware", _facts(campaign, hardware), (_ONE_HARDWARE,), _FACT),
    )
    return validate(f"{campaign.title}: is it fit to publish?", parts)


def cells_to_run_again(state: State, fingerprints: Mapping[AttemptKey, Fingerprint | None]) -> tuple[str, ...]:
    """Return ids of the cells, variant by variant, that are missing or ran with other software than the rest."""
    odd = {cell for deviation in _deviations(state, fingerprints) if deviation.chosen for cell in deviation.cells}
    return tuple(tried.cell.id for tried in state.by_variant if not tried.is_settled or tried.cell.id in odd)


def unfit(quality: Quality, *, of_missing: bool) -> bool:
    """Tell whether a check forbids a report. `of_missing`: also those that fail because cells have no valid attempt."""
    failed = (check for check in quality.checks if not check.success and check.severity == "invalid")
    return any(of_missing or check.name not in _OF_MISSING for check in failed)


def cells_suite(state: State) -> Sequence[Expected]:
    """Return expectations of the matrix, one row per cell. A threshold has as many cells as it asked for."""
    campaign = state.campaign
    sparse = {part.id for part in campaign.parts if isinstance(part.strategy, Threshold)}
    count = sum(part.cells for part in campaign.parts if part.id not in sparse)
    count += sum(tried.cell.part in sparse for tried in state.cells)
    needed = f" that the {campaign.needed_by}" if campaign.needed_by else ""
    return (
        Expected("matrix", *rows(count), f"the definition's {plural(count, 'cell')}, no more and no less"),
        Expected("valid cells", *each_one_of("state", _VALID, _NOT_NEEDED), f"a valid attempt at every cell{needed}"),
    )


def repeats_suite(part: Part) -> Sequence[Expected]:
    """Return expectations of the repeats, one row per variant and load; none of a threshold."""
    if isinstance(part.strategy, Threshold):
        return ()
    repeats = part.repeats
    needed = f", less those that the {part.strategy.name} does not need" if chooses_cells(part.strategy) else ""
    return (
        Expected(
            "repeats",
            *each_one_of("settled_repeats", repeats),
            f"{repeats} valid repeats of each variant and load{needed}",
        ),
    )


def _valid(state: State) -> Mapping[Cell, Verdict]:
    """Return the verdicts that count, by cell. Cells that the definition does not have come last."""
    strays = {stray.verdict.cell: stray.verdict for stray in state.strays if stray.verdict and stray.verdict.valid}
    return {tried.cell: tried.verdict for tried in state.by_variant if tried.verdict} | strays


def _deviations(state: State, fingerprints: Mapping[AttemptKey, Fingerprint | None]) -> tuple[Deviation, ...]:
    known = {cell: fingerprints.get(verdict.key) for cell, verdict in _valid(state).items()}
    return deviations({cell: fingerprint for cell, fingerprint in known.items() if fingerprint is not None})


def _cells(state: State) -> pd.DataFrame:
    """Return a table with one row per cell of the campaign, and per other cell with an attempt."""
    states = {tried.cell.id: _state(tried) for tried in state.by_variant}
    # Cells that the definition lacks have rows too, and so the check `matrix` fails
    states |= {stray.key.cell_id: "invalid" for stray in state.strays}
    states |= {cell.id: _VALID for cell in _valid(state)}
    return _table(states.items(), "cell", "state")


def _state(tried: CellAttempts[AttemptRecord]) -> str:
    if tried.is_settled:
        return _VALID if tried.counted else _NOT_NEEDED
    return "invalid" if tried.attempts else "not run"


def _measures(state: State) -> pd.DataFrame:
    """Return a table with one row per stage with a workload: how many measures its cells have, and which have which."""
    parts: dict[str, dict[str, list[str]]] = {}
    for cell, verdict in _valid(state).items():
        name = cell.part or "campaign"
        parts.setdefault(name, {}).setdefault(verdict.measure, []).append(cell.id)
    table = ((name, len(cells), _listed(cells) if len(cells) > 1 else "") for name, cells in parts.items())
    return _table(table, "part", "measures", "cells")


def _listed(cells: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{measure}: {', '.join(own)}" for measure, own in sorted(cells.items()))


def _points(state: State, stage: str) -> pd.DataFrame:
    """Return a row per variant (with each workload) and load of a stage. Spreads are NaN below two known repeats."""
    own = [tried.cell for tried in state.by_variant if tried.cell.stage == stage]
    # Loads without a valid repeat are among them, because the check of repeats is to see them
    repeats: dict[tuple[str, int], list[Verdict]] = {_point(cell): [] for cell in own}
    for cell, verdict in _valid(state).items():
        if cell.stage == stage:
            repeats.setdefault(_point(cell), []).append(verdict)
    spared = Counter(_point(tried.cell) for tried in state.not_needed)
    table = [
        (
            *point,
            len(here),
            len(here) + spared[point],
            _spread(here, lambda verdict: verdict.achieved_ops_s, farthest_from_median),
            _spread(here, distance, lambda distances: max(distances) / min(distances)),
        )
        for point, here in repeats.items()
    ]
    return _table(table, *_POINT, "valid_repeats", "settled_repeats", "rate_spread", "worst_spread")


def _point(cell: Cell) -> tuple[str, int]:
    return cell.ladder, cell.load_ops_s


def farthest_from_median(rates: Sequence[float]) -> float:
    """Return how far the rate that lies farthest from their median lies from it, as a share of the median."""
    middle = median(rates)
    return max(abs(rate - middle) for rate in rates) / middle


def _spread(
    verdicts: Sequence[Verdict],
    figure: Callable[[Verdict], float | None],
    width: Callable[[Sequence[float]], float],
) -> float:
    # Zeros are left out too, because both spreads are divided by a figure
    values = [value for value in map(figure, verdicts) if value]
    return width(values) if len(values) > 1 else nan


def _facts(campaign: Campaign, differing: Sequence[Deviation]) -> pd.DataFrame:
    """Return a table with one row per deviation, and one row for each variant without any deviation."""
    deviating = {deviation.variant for deviation in differing}
    even = [(variant.id, "everything compared", 1, "") for variant in campaign.variants if variant.id not in deviating]
    odd_rows = [(odd.variant, odd.fact, odd.values, f"not {odd.usual}: {', '.join(odd.cells)}") for odd in differing]
    return _table([*odd_rows, *even], "variant", "fact", "values", "cells")


def _table(rows: Iterable[Sequence[object]], *columns: str) -> pd.DataFrame:
    import pandas as pd  # late: most of this module needs none of it

    return pd.DataFrame(list(rows), columns=list(columns))
