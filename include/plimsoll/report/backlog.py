"""Remarks on an achieved rate that includes operations left over from warm-up."""

from plimsoll.analysis.attempt.backlog import begins_with_backlog
from plimsoll.analysis.attempt.judgement import answered_more
from plimsoll.domain.result import OpeningBacklog, Verdict
from plimsoll.domain.service_level import ServiceLevel
from plimsoll.report.formatting import figure, percent, plural


def backlog_words(backlog: OpeningBacklog) -> str:
    """Return the backlog at the start of a judged time in words: `3.75 s of warm-up's load (750 operations)`."""
    return f"{figure(backlog.seconds)} s of warm-up's load ({plural(backlog.operations, 'operation')})"


def achieved_remark(verdict: Verdict, level: ServiceLevel) -> str:
    """Return a remark on the achieved rate; empty where it is at most the attempted rate and no backlog was answered.

    Where a load generator reports no backlog, the remark does not mention one.
    """
    more = ""
    if verdict.achieved_ops_s is not None and answered_more(verdict.achieved_ops_s, verdict.attempted_ops_s):
        more = f"{percent(verdict.achieved_ops_s / verdict.attempted_ops_s)} of attempted: "
    if verdict.opening_backlog is not None and begins_with_backlog(verdict.opening_backlog, level):
        return f"{more}it began with {backlog_words(verdict.opening_backlog)} to answer"
    if not more:
        return ""
    known = verdict.opening_backlog is not None
    return f"{more}{'more was answered than came due' if known else 'its backlog at the start is not known'}"
