"""The cells that a strategy ran and left out, in words."""

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.left_out import shared_data
from plimsoll.domain.keys.strategy import FullGrid, Ramp, Search, Threshold
from plimsoll.report.formatting import plural

_EXACT = (
    "It climbed from the lowest load to the first repeat that missed. Given the same outcomes a full grid finds the "
    "same capacities. How far the loads above would have missed, and whether a higher one would have been met again, "
    "is not known."
)
_FAST = (
    "It bisected the loads with one repeat each, then ran all repeats at the capacity and at {below} below it. Loads "
    "further down are taken for met. Given the same outcomes a full grid never finds a higher capacity; it finds a "
    "lower one where a repeat that was not run would have missed."
)


_RAMP = (
    "Each repeat went up from the lowest load until its rate was not achieved or a service level was missed; either "
    "counts as missed here. A capacity is the highest load that all repeats sustained. What lies above the first miss "
    "of a repeat is not known."
)


_THRESHOLD = (
    "Each cell ran where it told most about the load that is met with the chance that is asked for. How far its worst "
    "interval lay from the bound counts, and not only whether it was met. Loads far from the answer ran once or never."
)


_SHARED = (
    "The loads of a repeat share their data: the lowest load populates, and {went_on} of {cells} went on with the "
    "database and the data that lower loads had left."
)


def what_was_run(findings: Findings) -> str:
    """Return the share of the grid that a search or ramp ran: `A search ran 84 of 275 cells; 191 need not run.`

    Empty for a full grid.
    """
    if not findings.left_out:
        return ""
    run, spared, missing = (
        sum(getattr(one, name) for one in findings.left_out) for name in ("run", "not_needed", "missing")
    )
    still = f"; {missing} may still run" if missing else ""
    ran = f"A {findings.part.strategy.name} ran {run} of {plural(len(findings.cells), 'cell')}"
    return f"{ran}; {spared} need not run{still}."


def how_cells_were_chosen(findings: Findings) -> str:
    """Tell how the strategy chose the cells to run, and which questions their results can and can't answer.

    Empty for a full grid.
    """
    strategy = findings.part.strategy
    match strategy:
        case FullGrid():
            return ""
        case Search(mode="exact"):
            return _EXACT
        case Search():
            return _FAST.format(below=plural(strategy.guard, "load"))
        case Ramp(data="same"):
            return f"{_RAMP} {_whose_data(findings)}"
        case Ramp():
            return _RAMP
        case Threshold():
            return _THRESHOLD


def _whose_data(findings: Findings) -> str:
    """Tell how many cells went on with a lower load's data, and which began with fresh ones above the lowest load."""
    found = shared_data(findings.cells)
    exceptions = f" Fresh data above the lowest load: {', '.join(found.fresh_above)}." if found.fresh_above else ""
    return f"{_SHARED.format(went_on=found.went_on, cells=plural(found.cells, 'cell'))}{exceptions}"
