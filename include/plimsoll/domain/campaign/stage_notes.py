"""Explain in sentences which results the loads of a stage rest on."""

from collections.abc import Iterator, Sequence

from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.stage import StageLoad

_MOST_OF_CLOSED = 90
"""The share of a closed loop's rate, per cent, up to which an open loop has time to catch up."""


def stage_notes(part: Part) -> Iterator[str]:
    """Yield a sentence for each variant on the result that its load was taken from.

    Empty if the part's loads are its own. While the load is not known: a sentence on how it will be found. What to do
    about variants that have no load comes last, once for all of them.
    """
    if part.taken is None:
        return
    if critical := critical_load(part):
        yield critical
    if part.stage_start is None:
        of_what = share_in_words(part, "each variant's")
        yield f"Its loads are {of_what}: they are known once stage {part.taken.source} is complete."
        return
    workload = f" with {part.workload_id}" if part.workload_id else ""
    for load in part.found_loads:
        yield _sentence(part, load, f"{load.variant}{workload}")
    if all(load.load_ops_s is None for load in part.found_loads):
        yield f"So stage {part.stage}{workload} has no cells."
    yield from _advice(part)


def critical_load(part: Part) -> str:
    """Say that the part's load is critical by queueing alone; empty where it is not taken whole from a closed loop.

    A closed loop's rate is a bound from above: an open loop at that rate has no time to catch up after any delay.
    """
    share = (part.taken.share or 100) if part.taken else 0
    if not part.of_closed_loop or share <= _MOST_OF_CLOSED:
        return ""
    return (
        f"{share} % of a closed loop's rate is critical by queueing alone: an open loop at that rate misses whatever "
        "the database is, and its misses tell nothing of it; take a share of 50 to 90 %."
    )


def notes_of_stage(of_workloads: Sequence[Part]) -> tuple[str, ...]:
    """Collect the notes of all workloads of a stage. Sentences that are the same for several of them appear once."""
    notes = [note for part in of_workloads for note in stage_notes(part)]
    last = {advice for part in of_workloads for advice in _advice(part)}
    return (*dict.fromkeys(note for note in notes if note not in last), *last)


def share_in_words(part: Part, whose: str) -> str:
    """Return what the part's load is of earlier results: `70 % of its maximum`, where `whose` is `its`."""
    share = part.taken.share if part.taken else None
    return f"the slowest variant's {_base(part)}" if share is None else f"{share} % of {whose} {_base(part)}"


def _advice(part: Part) -> Iterator[str]:
    if part.stage_start and any(load.maximum_ops_s is None for load in part.found_loads):
        source = part.stage_start.of
        yield f"To measure variants that have no maximum, begin a new campaign with lower loads in stage {source}."


def _sentence(part: Part, load: StageLoad, who: str) -> str:
    assert part.stage_start is not None
    source, base, cells = part.stage_start.of, _base(part), ", ".join(load.decided_by)
    if load.maximum_ops_s is None:
        here = "" if part.level == "slowest" else " and no cells here"
        return f"{who} was not found to carry a load of stage {source} ({cells}), so it has no {base}{here}."
    least = "at least " if load.kind == "at-least" else ""
    runs = f"it runs at {load.load_ops_s:,} ops/s" if load.load_ops_s else "there is no load for all variants"
    return f"{who}: {base} {least}{load.maximum_ops_s:,} ops/s in stage {source}, as {cells} decided; {runs}."


def _base(part: Part) -> str:
    """Return what the part's load is taken from, in words."""
    return "rate in the closed loop" if part.of_closed_loop else "maximum"
