"""Assemble a verdict from the results of judging, and store it with its tables and Data Docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.judgement import Judgement
from plimsoll.analysis.attempt.latencies import latencies_frame
from plimsoll.analysis.attempt.missed_intervals import ERROR_LIMIT
from plimsoll.domain.result import Verdict
from plimsoll.domain.strategy import Ramp
from plimsoll.quality.blame import error_share
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import read_verdict, write_model
from plimsoll.services.store.earlier_verdicts import keep_no_copy, keep_verdict
from plimsoll.services.store.tables import write_table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    import pandas as pd

    from plimsoll.domain.load_summary import LoadSummary
    from plimsoll.domain.result import OpeningBacklog
    from plimsoll.quality.expectation import Quality
    from plimsoll.services.cell.context import AttemptContext


@dataclass(frozen=True, eq=False)
class Judged:
    """The results of judging an attempt.

    `intervals` is the judgement's table; `quality` is None where nothing was checked.

    `opening_backlog`: the backlog at the start of the judged time, None where the load generator did not report it.
    """

    judgement: Judgement
    intervals: pd.DataFrame
    quality: Quality | None = None
    opening_backlog: OpeningBacklog | None = None


def verdict_of(  # noqa: PLR0913  # what its two kinds of attempts, run here and imported, tell in different ways
    work: AttemptContext,
    judged: Judged,
    *,
    reasons: Iterable[str],
    warnings: Iterable[str],
    errors: LoadSummary,
    started_at: datetime | None,
) -> Verdict:
    """The verdict; valid if there are no `reasons`.

    `errors`: failed and answered operations, which decide the error share.
    """
    judgement, quality, why = judged.judgement, judged.quality, tuple(dict.fromkeys(reasons))
    is_ramp = isinstance(work.definition.strategy, Ramp)
    return Verdict(
        key=work.key,
        cell=work.cell,
        valid=not why,
        reasons=why,
        warnings=(*(quality.warnings if quality else ()), *warnings),
        met=None if why else _is_met(judgement, errors) and not (is_ramp and judgement.rate_achieved is False),
        levels=judgement.levels,
        attempted_ops_s=work.cell.load_ops_s,
        achieved_ops_s=judgement.achieved_ops_s,
        rate_achieved=judgement.rate_achieved,
        must_reach_rate=is_ramp,
        errors=errors.errors,
        operations=judgement.operations,
        maxima=judgement.maxima,
        maxima_by_operation=dict(judgement.maxima_by_operation),
        started_at=started_at,
        opening_backlog=judged.opening_backlog,
        checks=tuple(quality.checks) if quality else (),
        code_version=work.toolkit.code_version,
    )


def _is_met(judgement: Judgement, errors: LoadSummary) -> bool:
    """Whether the attempt is met.

    A failed operation has no response time and was not answered in time, so many are a miss.
    """
    return bool(judgement.met) and error_share(errors) < ERROR_LIMIT


def store_verdict(work: AttemptContext, judged: Judged, verdict: Verdict) -> None:
    """Store the intervals, response times by percentile and Data Docs, and last the verdict.

    Another verdict that the attempt had is kept.
    """
    store, key, judgement = work.toolkit.store, work.key, judged.judgement
    write_table(store, key, "intervals", judged.intervals)
    write_table(store, key, "latencies", latencies_frame(judgement.counts, judgement.unit))
    for path, content in (judged.quality.data_docs if judged.quality else {}).items():
        store.write(layout.attempt_file(key, f"{layout.QUALITY}/{path}"), content)
    earlier = read_verdict(store, key)
    if earlier == verdict:
        keep_no_copy(store, key, verdict)
    elif earlier is not None:
        # Kept before it is replaced: killed in between, judging once more finds both and goes on. The other way round
        # the earlier verdict would be lost, because the next try finds the new one and has nothing to keep.
        keep_verdict(store, key, earlier)
    write_model(store, key, layout.VERDICT, verdict)
