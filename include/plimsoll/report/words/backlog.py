"""Remarks on an achieved rate: operations left over from warm-up that it includes, and rows of batches."""

from plimsoll.analysis.attempt.backlog import begins_with_backlog
from plimsoll.analysis.attempt.judgement import answered_more
from plimsoll.domain.result import OpeningBacklog, Verdict
from plimsoll.domain.service_level import ServiceLevel
from plimsoll.report.formatting import figure, percent, plural


def backlog_words(backlog: OpeningBacklog) -> str:
    """Return the backlog at the start of a judged time in words: `3.75 s of warm-up's load (750 operations)`."""
    return f"{figure(backlog.seconds)} s of warm-up's load ({plural(backlog.operations, 'operation')})"


def achieved_remark(verdict: Verdict, level: ServiceLevel) -> str:
    """Return a remark on the achieved rate; empty where it is at most the attempted rate, no backlog was answered, and
    operations have one row each.

    Where a load generator reports no backlog, the remark does not mention one.
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
