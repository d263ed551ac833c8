"""Stages in the report: the results that their loads rest on, and the measurements at loads from earlier stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from plimsoll.analysis.taken_loads import PERCENTILES, AtTakenLoad, Mean, at_taken_loads, changed_maxima
from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.opening_notes import opening_notes
from plimsoll.domain.stage import StageOpening
from plimsoll.domain.units import format_rate
from plimsoll.report.formatting import figure, moment, ms, multiple, ops

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from plimsoll.analysis.findings import Findings
    from plimsoll.domain.definition import Definition
    from plimsoll.domain.parts import Part


class StageDocument(Model):
    """A stage in `report.json`."""

    id: str
    title: str
    strategy: str
    load: Annotated[
        LeftOutIfEmpty[str], Field(description="How its load is taken from an earlier stage; left out where it is not")
    ] = ""
    service_levels: tuple[str, ...]
    opening: Annotated[
        StageOpening | None, Field(description="Its loads, when they were found, and the attempts that decided them")
    ] = None


@dataclass(frozen=True)
class TakenRow:
    """A variant at a load from an earlier stage, as the page shows it."""

    variant: str
    load: str
    repeats: str
    achieved: str
    to_control: str
    percentiles: tuple[str, ...]


def stage_documents(definition: Definition) -> tuple[StageDocument, ...]:
    """The stages in order; empty where the definition has no `stages`."""
    return tuple(
        StageDocument(
            id=stage.id,
            title=stage.label,
            strategy=alone.strategy.name,
            load=str(stage.taken) if stage.taken else "",
            service_levels=tuple(map(str, alone.service_levels)),
            opening=definition.openings.get(stage.id),
        )
        for stage, alone in definition.of_stages
        if stage
    )


def at_loads(part: Part, findings: Findings) -> tuple[AtTakenLoad, ...]:
    """The figures of a part that takes its load from an earlier stage; empty for a part with loads of its own."""
    return at_taken_loads(findings.cells, findings.definition.control) if part.taken else ()


def taken_rows(findings: Findings, found: Sequence[AtTakenLoad]) -> tuple[TakenRow, ...]:
    """The figures of a part that takes its load from an earlier stage, in words."""
    return tuple(
        TakenRow(
            variant=findings.labels[one.variant],
            load=ops(one.load_ops_s),
            repeats=str(one.repeats),
            achieved=_shown(one.achieved_ops_s, ops, figure),
            to_control="control" if one.variant == findings.definition.control else _shown(one.to_control, multiple),
            percentiles=tuple(_shown(getattr(one, name), ms, figure) for name in PERCENTILES),
        )
        for one in found
    )


def rests_on(part: Part, source: Findings | None) -> Iterator[str]:
    """Sentences on the results that the loads of a part rest on, and on later changes of these results.

    `source`: the findings of the part that the loads were taken from.
    """
    yield from opening_notes(part)
    if part.opening is None:
        return
    yield f"These loads were found on {moment(part.opening.at)}, and stand whatever is judged later."
    changed = changed_maxima(part.opened, source.capacities) if source else {}
    for variant, maximum in changed.items():
        told = format_rate(maximum) if maximum else "none"
        yield f"By the results that count by now the maximum of {variant} is {told}."


def taken_frame(found: Sequence[tuple[Part, AtTakenLoad]]) -> pd.DataFrame:
    """A table with one row per stage, workload and variant at a load from an earlier stage.

    Intervals are in columns `…_low` and `…_high`.
    """
    import pandas as pd

    rows = []
    for part, one in found:
        row: dict[str, object] = {"stage": part.stage, "workload": part.workload}
        for name, value in one:
            if isinstance(value, Mean) or name in ("achieved_ops_s", "to_control", *PERCENTILES):
                known = value or None
                row |= {name: known and known.value, f"{name}_low": known and known.low}
                row |= {f"{name}_high": known and known.high}
            else:
                row[name] = value
        rows.append(row)
    return pd.DataFrame(rows)


def _shown(mean: Mean | None, words: Callable[[float], str], bare: Callable[[float], str] | None = None) -> str:
    """`7,000 ops/s (6,950 to 7,040)`."""
    if mean is None:
        return "–"
    if mean.low is None or mean.high is None:
        return words(mean.value)
    plain = bare or words
    return f"{words(mean.value)} ({plain(mean.low)} to {plain(mean.high)})"
