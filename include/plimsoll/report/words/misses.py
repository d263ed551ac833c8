"""The worst missed intervals in words, each with an anchor for links; and remarks on an achieved rate."""

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from plimsoll.analysis import grouped
from plimsoll.analysis.attempt.judgement import answered_more
from plimsoll.analysis.attempt.unanswered import begins_with_backlog
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.misses import WORST, Coincidence, Miss
from plimsoll.domain.attempt.result import OpeningBacklog, Verdict
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.report.formatting import figure, ms, percent, plural
from plimsoll.report.tables import Column, Sheet, Table, number

_NOT_ANALYSED = "response times alone were analysed"
_NOTHING = "nothing of what was collected"


def misses_table(misses: Iterable[Miss], level: ServiceLevel) -> Table[Miss]:
    """Return missed intervals in the given order, with all that touched them and the nodes' log lines of their time."""
    return Table(
        "Worst missed intervals",
        list(misses),
        Column("Cell", lambda miss: miss.cell_id),
        number("From", start),
        number(
            f"p{level.percentile:g}",
            lambda miss: ms(miss.judged_ms) if miss.judged_ms is not None else "nothing answered",
        ),
        Column("What touched it", _with_lines, "prose"),
        anchor=anchor,
    )


def misses_by_cell(misses: Iterable[Miss]) -> Mapping[str, Sequence[Miss]]:
    """Return the misses of each cell that has any, in order of time."""
    return grouped((miss.cell_id, miss) for miss in sorted(misses, key=lambda miss: miss.start_s))


def start(miss: Miss) -> str:
    return f"{miss.start_s:,.0f} s"


def anchor(miss: Miss) -> str:
    return f"miss-{miss.cell_id}-{miss.start_s:.6g}"


def links_by_place(misses: Iterable[Miss]) -> Mapping[tuple[str, float], str]:
    """Return the link to each listed interval, by cell and start (s)."""
    return {(miss.cell_id, miss.start_s): f"#{anchor(miss)}" for miss in misses}


def misses_sheet(findings: Findings) -> Sheet:
    """Return one row for each of the WORST missed intervals, with the causes that touched it as text."""
    rows = ((miss.cell_id, miss.start_s, miss.judged_ms, causes(miss)) for miss in findings.misses[:WORST])
    return Sheet(rows, ["cell", "start_s", "judged_ms", "causes"])


def causes(miss: Miss) -> str:
    return _NOT_ANALYSED if miss.touched is None else "; ".join(map(_touch, miss.touched)) or _NOTHING


def _with_lines(miss: Miss) -> str:
    if not miss.lines:
        return causes(miss)
    logged = Markup("{}<details><summary>{} of that time</summary><pre>{}</pre></details>")
    return logged.format(causes(miss), plural(len(miss.lines), "log line"), "\n".join(miss.lines))


def _touch(touch: Coincidence) -> str:
    return f"{touch.cause.label} {amount(touch.amount, touch.cause.unit)} ({touch.place})"


def amount(value: float, unit: str) -> str:
    """Return how much of a cause there was: `12 %`, `38 ms`."""
    return percent(value, 0) if unit == "share" else f"{figure(value)} {unit}"


def backlog_words(backlog: OpeningBacklog) -> str:
    """Return the backlog at the start of a judged time in words: `3.75 s of warm-up's load (750 operations)`."""
    return f"{figure(backlog.seconds)} s of warm-up's load ({plural(backlog.operations, 'operation')})"


def achieved_remark(verdict: Verdict, level: ServiceLevel) -> str:
    """Return a remark on the achieved rate; empty where there is nothing to remark.

    It tells the rows of batches, where operations have several; that more was achieved than attempted; and, where the
    load generator reports it, a backlog from the warm-up that was answered.
    """
    rows = f"{verdict.rows_s:,.0f} rows/s" if verdict.rows_s else ""
    return "; ".join(filter(None, (rows, _backlog_remark(verdict, level))))


def _backlog_remark(verdict: Verdict, level: ServiceLevel) -> str:
    more = ""
    if verdict.achieved_ops_s is not None and answered_more(verdict.achieved_ops_s, verdict.attempted_ops_s):
        more = f"{percent(verdict.achieved_ops_s / verdict.attempted_ops_s)} of attempted: "
    if verdict.opening_backlog is not None and begins_with_backlog(verdict.opening_backlog, level):
        return f"{more}it began with {backlog_words(verdict.opening_backlog)} to answer"
    if not more:
        return ""
    known = verdict.opening_backlog is not None
    return f"{more}{'more was answered than came due' if known else 'its backlog at the start is not known'}"
