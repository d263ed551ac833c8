"""A part that takes its load from an earlier stage: what each variant did at its load, as figures and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.taken_loads import PERCENTILES, AtTakenLoad, Mean, at_taken_loads
from plimsoll.report.answers import rung_outcome
from plimsoll.report.formatting import NOTHING, figure, ms, multiple, ops, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pandas as pd

    from plimsoll.analysis.campaign.capacity import Rung
    from plimsoll.analysis.campaign.findings import Findings
    from plimsoll.domain.loads import TakenLoad
    from plimsoll.domain.parts import Part


@dataclass(frozen=True)
class TakenRow:
    """A variant at a load from an earlier stage, as the page shows it."""

    variant: str
    load: str
    repeats: str
    achieved: str
    to_control: str
    percentiles: tuple[str, ...]


def at_loads(findings: Findings) -> tuple[AtTakenLoad, ...]:
    """Return the figures of a part that takes its load from an earlier stage; empty for a part with loads of
    its own.
    """
    return at_taken_loads(findings.cells, findings.definition.control) if findings.data.taken else ()


def taken_rows(findings: Findings) -> tuple[TakenRow, ...]:
    """Return the figures of a part that takes its load from an earlier stage, in words; empty for another part."""
    return tuple(
        TakenRow(
            variant=findings.labels[one.variant],
            load=ops(one.load_ops_s),
            repeats=str(one.repeats),
            achieved=_shown(one.achieved_ops_s, ops, figure),
            to_control="control" if one.variant == findings.definition.control else _shown(one.to_control, multiple),
            percentiles=tuple(_shown(getattr(one, name), ms, figure) for name in PERCENTILES),
        )
        for one in at_loads(findings)
    )


def taken_conclusion(findings: Findings, taken: TakenLoad) -> str:
    """Return the answer of such a part, without a full stop: `At 70 % of its maximum (7,000 ops/s) A met the service
    …`.
    """
    found = [(findings.labels[name], rung) for name, rungs in findings.rungs.items() for rung in rungs]
    loads = {rung.load_ops_s for _, rung in found}
    if len(found) == 1 or (taken.share is None and len(loads) == 1):
        at = f"At {_of_maximum(taken)} ({ops(found[0][1].load_ops_s)}) "
        return at + ", ".join(_clauses([(name, rung, "") for name, rung in found]))
    named = [(name, rung, f" ({ops(rung.load_ops_s)})") for name, rung in found]
    return f"At {_of_maximum(taken)} {', '.join(_clauses(named))}"


def taken_sentences(findings: Findings) -> tuple[str, ...]:
    """Return the result of each variant of such a part in a sentence; empty for another part."""
    taken = findings.data.taken
    if taken is None:
        return ()
    return tuple(
        f"{findings.labels[name]} at {ops(rung.load_ops_s)}, {_of_maximum(taken)}: {rung_outcome(rung)}."
        for name, rungs in findings.rungs.items()
        for rung in rungs
    )


def outcome_at_taken_load(taken: TakenLoad, rungs: Iterable[Rung]) -> str:
    """Return the outcome of a variant's repeats at its load: `at 7,000 ops/s (70 % of its maximum) 2 of 2
    repeats met`.
    """
    return ", ".join(f"at {ops(one.load_ops_s)} ({_of_maximum(taken)}) {rung_outcome(one)}" for one in rungs)


def taken_frame(found: Sequence[tuple[Part, AtTakenLoad]]) -> pd.DataFrame:
    """Return a table with one row per stage, workload and variant at a load from an earlier stage.

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


def _of_maximum(taken: TakenLoad) -> str:
    return "the slowest variant's maximum" if taken.share is None else f"{taken.share} % of its maximum"


def _clauses(found: Sequence[tuple[str, Rung, str]]) -> Iterator[str]:
    """Yield `A met the service level in 2 of 2 valid repeats`, then `B in 1 of 2`."""
    has_begun = False
    for name, rung, load in found:
        valid = rung.met + rung.missed
        if not valid:
            yield f"{name}{load} has no valid repeat"
            continue
        of_all = str(valid) if has_begun else plural(valid, "valid repeat")
        yield f"{name}{load} {'' if has_begun else 'met the service level '}in {rung.met} of {of_all}"
        has_begun = True


def _shown(mean: Mean | None, words: Callable[[float], str], bare: Callable[[float], str] | None = None) -> str:
    """Format a mean with its range as `7,000 ops/s (6,950 to 7,040)`."""
    if mean is None:
        return NOTHING
    if mean.low is None or mean.high is None:
        return words(mean.value)
    plain = bare or words
    return f"{words(mean.value)} ({plain(mean.low)} to {plain(mean.high)})"
