"""A part in a closed loop, or whose load an earlier stage gave: what each variant did, in figures and words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.taken_loads import AtTakenLoad, Mean, at_taken_loads
from plimsoll.domain.level_verdict import PERCENTILES
from plimsoll.domain.stage_notes import share_in_words
from plimsoll.report.answers import rung_outcome
from plimsoll.report.formatting import NOTHING, figure, ms, multiple, ops, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from plimsoll.analysis.campaign.capacity import Rung
    from plimsoll.analysis.campaign.cell_results import CampaignData
    from plimsoll.analysis.campaign.findings import Findings
    from plimsoll.domain.parts import Part


@dataclass(frozen=True)
class TakenRow:
    """A variant at its load, as the page shows it."""

    variant: str
    load: str
    repeats: str
    achieved: str
    to_control: str
    percentiles: tuple[str, ...]


def at_loads(findings: Findings) -> tuple[AtTakenLoad, ...]:
    """Return the figures of a part in a closed loop, or that takes its load from an earlier stage; else empty."""
    if not findings.data.is_at_a_load:
        return ()
    return at_taken_loads(findings.cells, findings.definition.control, has_taken=findings.data.taken is not None)


def shows_rates(data: CampaignData) -> bool:
    """Tell whether the achieved rates of such a part say more than its loads, which may be the same for all."""
    return data.definition.is_closed_loop or bool(data.taken and data.taken.share)


def taken_rows(findings: Findings) -> tuple[TakenRow, ...]:
    """Return the figures of such a part in words, each variant's beside those of the closed loop that gave its load."""
    closed = _in_closed_loop(findings.source)
    return tuple(row for one in _rows(findings) for row in (one, *closed.get(one.variant, ())))


def _in_closed_loop(source: Findings | None) -> Mapping[str, tuple[TakenRow]]:
    """Return each variant's row at its highest load, by the variant; none where the source is no closed loop."""
    if source is None or not source.definition.is_closed_loop:
        return {}
    return {one.variant: (replace(one, variant=f"{one.variant}, in the closed loop"),) for one in _rows(source)}


def _rows(findings: Findings) -> tuple[TakenRow, ...]:
    bound = "at most " if findings.definition.is_closed_loop else ""
    return tuple(
        TakenRow(
            variant=findings.labels[one.variant],
            load=f"{bound}{ops(one.load_ops_s)}",
            repeats=str(one.repeats),
            achieved=_shown(one.achieved_ops_s, ops, figure),
            to_control="control" if one.variant == findings.definition.control else _shown(one.to_control, multiple),
            percentiles=tuple(_shown(getattr(one, name), ms, figure) for name in PERCENTILES),
        )
        for one in at_loads(findings)
    )


def taken_conclusion(findings: Findings) -> str:
    """Return the answer of such a part, without a full stop: `At 70 % of its maximum (7,000 ops/s) A met the service
    …`.
    """
    taken = findings.data.taken
    if taken is None:
        return _of_closed_loop(findings)
    found = [(findings.labels[name], rung) for name, rungs in findings.rungs.items() for rung in rungs]
    loads = {rung.load_ops_s for _, rung in found}
    share = _share(findings.data)
    if len(found) == 1 or (taken.share is None and len(loads) == 1):
        at = f"At {share} ({ops(found[0][1].load_ops_s)}) "
        return at + ", ".join(_clauses([(name, rung, "") for name, rung in found]))
    named = [(name, rung, f" ({ops(rung.load_ops_s)})") for name, rung in found]
    return f"At {share} {', '.join(_clauses(named))}"


def taken_sentences(findings: Findings) -> tuple[str, ...]:
    """Return the result of each variant of such a part in a sentence; empty for another part."""
    if not findings.data.is_at_a_load:
        return ()
    share = _share(findings.data)
    return tuple(
        f"{findings.labels[name]} at {ops(rung.load_ops_s)}, {share}: {rung_outcome(rung)}."
        for name, rungs in findings.rungs.items()
        for rung in rungs
    )


def outcome_at_taken_load(data: CampaignData, rungs: Iterable[Rung]) -> str:
    """Return the outcome of a variant's repeats at its load: `at 7,000 ops/s (70 % of its maximum) 2 of 2
    repeats met`.
    """
    return ", ".join(f"at {ops(one.load_ops_s)} ({_share(data)}) {rung_outcome(one)}" for one in rungs)


def taken_frame(found: Sequence[tuple[Part, AtTakenLoad]]) -> pd.DataFrame:
    """Return a table with one row per stage, workload and variant at its load.

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


def _of_closed_loop(findings: Findings) -> str:
    """Return the rates of a closed loop: `In a closed loop, which hides waits, A achieved 410 ops/s of at most …`."""
    rates = [f"{one.variant} achieved {one.achieved} of {one.load}" for one in _rows(findings)]
    return f"In a closed loop, which hides waits, {', '.join(rates) or 'no variant has a valid repeat'}"


def _share(data: CampaignData) -> str:
    """Return in words where the part's loads come from."""
    return share_in_words(data.of_part, "its") if data.of_part and data.taken else "the rate at most in a closed loop"


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
