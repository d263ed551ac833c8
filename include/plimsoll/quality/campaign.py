"""The suites of a campaign: is its data fit to publish?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.domain.cell import grid
from plimsoll.quality.expectation import Expected, Quality, between, joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.domain.cell import AttemptKey, Cell
    from plimsoll.domain.definition import Definition
    from plimsoll.domain.fingerprint import Fingerprint
    from plimsoll.domain.result import Verdict

SPREAD_LIMIT = 3.0


def check_campaign(
    definition: Definition, verdicts: Sequence[Verdict], fingerprints: Mapping[AttemptKey, Fingerprint | None]
) -> Quality:
    """Every check over the whole campaign, with its Data Docs. The newest valid attempt of a cell counts."""
    import pandas as pd

    from plimsoll.quality.engine import validate

    valid = _counted(verdicts)
    cells = pd.DataFrame([_cell_facts(cell, valid.get(cell)) for cell in grid(definition)])
    variants = pd.DataFrame([_variant_facts(variant.id, valid, fingerprints) for variant in definition.variants])
    squares = pd.DataFrame(_square_facts(definition, valid))
    return joined(
        {
            "cells": validate("cells", cells_suite(definition), cells),
            "variants": validate("variants", variants_suite(), variants),
            "repeats": validate("repeats", repeats_suite(definition), squares),
        }
    )


def cells_to_run_again(definition: Definition, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Ids of the cells without a valid attempt."""
    valid = _counted(verdicts)
    return tuple(cell.id for cell in grid(definition) if cell not in valid)


def cells_suite(definition: Definition) -> Sequence[Expected]:
    """Expected of the matrix, one row a cell."""
    return (
        Expected(
            "matrix",
            "ExpectTableRowCountToEqual",
            {"value": len(grid(definition))},
            "every cell of the definition",
        ),
        Expected(
            "valid cells",
            "ExpectColumnValuesToBeNull",
            {"column": "without_valid_attempt"},
            "a valid attempt at every cell",
        ),
    )


def variants_suite() -> Sequence[Expected]:
    """Expected of the environments, one row a variant."""
    return (
        Expected(
            "one environment per variant",
            "ExpectColumnValuesToBeBetween",
            between("environments", 0, 1),
            "the same JDK, flags, database, kernel and processor in all cells of a variant",
        ),
    )


def repeats_suite(definition: Definition) -> Sequence[Expected]:
    """Expected of each (variant, load), one row each."""
    return (
        Expected(
            "repeats",
            "ExpectColumnValuesToBeInSet",
            {"column": "valid_repeats", "value_set": [definition.repeats]},
            f"{definition.repeats} valid repeats of each variant and load",
        ),
        Expected(
            "spread",
            "ExpectColumnValuesToBeBetween",
            between("spread", None, SPREAD_LIMIT),
            f"the worst interval of repeats within a factor of {SPREAD_LIMIT:g}",
            severity="warning",
        ),
    )


def _counted(verdicts: Sequence[Verdict]) -> dict[Cell, Verdict]:
    ordered = sorted(verdicts, key=lambda verdict: verdict.key.attempt)
    return {verdict.cell: verdict for verdict in ordered if verdict.valid}


def _cell_facts(cell: Cell, verdict: Verdict | None) -> dict[str, object]:
    return {
        "cell": cell.id,
        "attempt": verdict.key.attempt if verdict else None,
        "without_valid_attempt": None if verdict else cell.id,
    }


def _variant_facts(
    variant: str, valid: Mapping[Cell, Verdict], fingerprints: Mapping[AttemptKey, Fingerprint | None]
) -> dict[str, object]:
    found = (fingerprints.get(verdict.key) for cell, verdict in valid.items() if cell.variant == variant)
    return {"variant": variant, "environments": len({_environment(one) for one in found if one is not None})}


def _environment(fingerprint: Fingerprint) -> tuple[object, ...]:
    """What must be equal in all cells of a variant. Addresses, ports and instances differ by nature."""
    return tuple(
        sorted(
            (
                node.facts.os,
                node.facts.kernel,
                node.facts.cpu_model,
                node.facts.cpus,
                node.facts.transparent_huge_pages,
                node.jvm.version,
                node.jvm.collector or "",
                tuple(sorted(node.jvm.flags.items())),
                node.database_version,
            )
            for node in fingerprint.nodes
        )
    )


def _square_facts(definition: Definition, valid: Mapping[Cell, Verdict]) -> list[dict[str, object]]:
    rows = []
    for variant in definition.variants:
        for load in definition.loads:
            here = [verdict for cell, verdict in valid.items() if (cell.variant, cell.load_ops_s) == (variant.id, load)]
            rows.append(
                {"variant": variant.id, "load_ops_s": load, "valid_repeats": len(here), "spread": _spread(here)}
            )
    return rows


def _spread(verdicts: Sequence[Verdict]) -> float:
    worst = [verdict.levels[0].worst_ms for verdict in verdicts if verdict.levels and verdict.levels[0].worst_ms]
    return max(worst) / min(worst) if worst else 1.0
