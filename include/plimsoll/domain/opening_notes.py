"""What the loads of a stage rest on, in sentences."""

from collections.abc import Iterator

from plimsoll.domain.parts import Part
from plimsoll.domain.stage import OpenedLoad
from plimsoll.domain.units import format_rate


def opening_notes(part: Part) -> Iterator[str]:
    """A sentence for each variant of a part whose load was taken from an earlier stage's results; else how it will be.

    Nothing where its loads are its own.
    """
    if part.taken is None:
        return
    workload = f" with {part.workload}" if part.workload else ""
    if part.opening is None:
        yield f"Its loads{workload} are {_which(part)}: they are known once stage {part.taken.source} is complete."
        return
    for one in part.opened:
        yield _sentence(part, one, f"{one.variant}{workload}")
    if all(one.load_ops_s is None for one in part.opened):
        yield f"So stage {part.stage}{workload} has no cells. {_mend(part)}"


def _which(part: Part) -> str:
    taken = part.taken
    if taken is None or taken.share is None:
        return "the slowest variant's maximum"
    return f"{taken.share} % of each variant's maximum"


def _sentence(part: Part, one: OpenedLoad, who: str) -> str:
    assert part.opening is not None
    source, cells = part.opening.of, ", ".join(one.decided_by)
    if one.maximum_ops_s is None:
        mend = "" if one.load_ops_s is None and part.level == "slowest" else f" It has no cells here. {_mend(part)}"
        return f"{who} carried no load of stage {source} ({cells}), so it has no maximum.{mend}"
    least = "at least " if one.kind == "at-least" else ""
    runs = f"it runs at {format_rate(one.load_ops_s)}" if one.load_ops_s else "there is no load for all variants"
    return f"{who}: maximum {least}{format_rate(one.maximum_ops_s)} in stage {source}, as {cells} decided; {runs}."


def _mend(part: Part) -> str:
    assert part.opening is not None
    return f"To measure it, begin a new campaign with lower loads in stage {part.opening.of}."
