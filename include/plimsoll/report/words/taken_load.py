"""A part in a closed loop, or whose load an earlier stage gave: what each variant did, in figures and words."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from plimsoll.analysis.campaign.capacity import Rung
from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.taken_loads import AtTakenLoad, Mean, at_taken_loads
from plimsoll.domain.campaign.campaign import share_in_words
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.service_level import PERCENTILES
from plimsoll.report.formatting import NOTHING, figure, ms, multiple, ops, plural
from plimsoll.report.tables import PERCENTILE_NAMES, PlainTable, Sheet, plain
from plimsoll.report.words.answers import rung_outcome


@dataclass(frozen=True)
class _Shown:
    """A variant at its load, with words for what depends on the whole part."""

    at: AtTakenLoad
    variant: str
    load: str
    to_control: str


def at_loads(findings: Findings) -> tuple[AtTakenLoad, ...]:
    """Return the figures of a part in a closed loop, or that takes its load from an earlier stage; else empty."""
    if findings.part.asks != "at a load":
        return ()
    return at_taken_loads(findings.cells, findings.part.control, has_taken=findings.part.taken is not None)


def taken_tables(findings: Findings, of: str = "") -> tuple[PlainTable, ...]:
    """Return what each variant of such a part achieved, and its response times; without rows of another part.

    Beside each variant stands the closed loop that gave its load. Rates are left out that say no more than the loads,
    which may be the same for all. `of` ends the tables' labels.
    """
    headings = {"Variant": "", "Load": "", "Repeats": ""}
    begun = [((row.variant, row.load, row.at.repeats), row) for row in _beside_closed_loop(findings)]
    rates = ((*own, _achieved(row), row.to_control) for own, row in begun)
    times = ((*own, *(_mean(getattr(row.at, name), ms, figure) for name in PERCENTILES)) for own, row in begun)
    shows_rates = "rate" not in findings.part.knows or bool(findings.part.taken and findings.part.taken.share)
    of_rates = headings | {"Achieved": "strong", "To control": ""}
    of_times = headings | {PERCENTILE_NAMES[name]: "" for name in PERCENTILES}
    return (
        plain(f"Throughput of each variant{of}", of_rates, rates if shows_rates else ()),
        plain(f"Response times of each variant{of}", of_times, times),
    )


def _achieved(row: _Shown) -> str:
    return _mean(row.at.achieved_ops_s, ops, figure)


def _beside_closed_loop(findings: Findings) -> tuple[_Shown, ...]:
    source = findings.source
    closed = _shown(source) if source and "rate" not in source.part.knows else ()
    beside = {row.at.variant: (replace(row, variant=f"{row.variant}, in the closed loop"),) for row in closed}
    return tuple(row for own in _shown(findings) for row in (own, *beside.get(own.at.variant, ())))


def _shown(findings: Findings) -> tuple[_Shown, ...]:
    bound, control = "" if "rate" in findings.part.knows else "at most ", findings.part.control
    return tuple(
        _Shown(
            result,
            variant=findings.labels[result.variant],
            load=f"{bound}{ops(result.load_ops_s)}",
            to_control="control" if result.variant == control else _mean(result.to_control, multiple),
        )
        for result in at_loads(findings)
    )


def taken_conclusion(findings: Findings) -> str:
    """Return the answer of such a part, without a full stop: `At 70 % of its maximum (7,000 ops/s) A met …`."""
    taken = findings.part.taken
    if taken is None:
        rates = [f"{row.variant} achieved {_achieved(row)} of {row.load}" for row in _shown(findings)]
        return f"In a closed loop, which hides waits, {', '.join(rates) or 'no variant has a valid repeat'}"
    named_rungs = [(findings.labels[name], rung) for name, rungs in findings.rungs.items() for rung in rungs]
    loads = {rung.load_ops_s for _, rung in named_rungs}
    share = _share(findings.data)
    if len(named_rungs) == 1 or (taken.share is None and len(loads) == 1):
        at = f"At {share} ({ops(named_rungs[0][1].load_ops_s)}) "
        return at + ", ".join(_clauses([(name, rung, "") for name, rung in named_rungs]))
    named = [(name, rung, f" ({ops(rung.load_ops_s)})") for name, rung in named_rungs]
    return f"At {share} {', '.join(_clauses(named))}"


def taken_sentences(findings: Findings) -> tuple[str, ...]:
    """Return the result of each variant of such a part in a sentence; empty for another part."""
    if findings.part.asks != "at a load":
        return ()
    share = _share(findings.data)
    return tuple(
        f"{findings.labels[name]} at {ops(rung.load_ops_s)}, {share}: {rung_outcome(rung)}."
        for name, rungs in findings.rungs.items()
        for rung in rungs
    )


def outcome_at_taken_load(data: CampaignData, rungs: Iterable[Rung]) -> str:
    """Return the outcome of a variant's repeats at its load.

    As in `at 7,000 ops/s (70 % of its maximum) 2 of 2 repeats met`.
    """
    return ", ".join(f"at {ops(rung.load_ops_s)} ({_share(data)}) {rung_outcome(rung)}" for rung in rungs)


def taken_sheet(results: Sequence[tuple[Part, AtTakenLoad]]) -> Sheet:
    """Return one row per stage, workload and variant at its load; intervals in columns `…_low` and `…_high`."""
    rows = []
    for part, result in results:
        row: dict[str, object] = {"stage": part.stage, "workload": part.workload_id}
        for name, value in result:
            if isinstance(value, Mean) or name in ("achieved_ops_s", "to_control", *PERCENTILES):
                known = value or None
                row |= {name: known and known.value, f"{name}_low": known and known.low}
                row |= {f"{name}_high": known and known.high}
            else:
                row[name] = value
        rows.append(row)
    return Sheet(rows)


def _share(data: CampaignData) -> str:
    return share_in_words(data.part, "its") if data.part.taken else "the rate at most in a closed loop"


def _clauses(outcomes: Sequence[tuple[str, Rung, str]]) -> Iterator[str]:
    """Yield `A met the service level in 2 of 2 valid repeats`, then `B in 1 of 2`."""
    has_begun = False
    for name, rung, load in outcomes:
        valid = rung.met + rung.missed
        if not valid:
            yield f"{name}{load} has no valid repeat"
            continue
        of_all = str(valid) if has_begun else plural(valid, "valid repeat")
        yield f"{name}{load} {'' if has_begun else 'met the service level '}in {rung.met} of {of_all}"
        has_begun = True


def _mean(mean: Mean | None, words: Callable[[float], str], bare: Callable[[float], str] | None = None) -> str:
    """Format a mean with its range as `7,000 ops/s (6,950 to 7,040)`."""
    if mean is None:
        return NOTHING
    if mean.low is None or mean.high is None:
        return words(mean.value)
    plain = bare or words
    return f"{words(mean.value)} ({plain(mean.low)} to {plain(mean.high)})"
