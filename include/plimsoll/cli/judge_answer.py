"""The output of `plimsoll judge`: a stable JSON object for programs, and text for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from plimsoll.analysis.attempt.intervals import SHOWN_NAMES
from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT
from plimsoll.cli.output import print_text
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, Percentiles, ServiceLevel
from plimsoll.domain.text.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.analysis.attempt.intervals import IntervalRow
    from plimsoll.analysis.attempt.judgement import Judgement
    from plimsoll.analysis.logs.formats.reading import WholeRun
    from plimsoll.domain.attempt.result import Outcome

EXIT_CODES: dict[Outcome, int] = {"met": 0, "missed": 1, "invalid": 2}

_NOTHING = Percentiles(p50_ms=None, p90_ms=None, p99_ms=None, p99_9_ms=None, max_ms=None)
_INTERVAL_KEYS = ("start_s", "duration_s", "count", "rate_ops_s", *SHOWN_NAMES, "met", "failed")
_HEADINGS = ("p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms")


def outcome(judgement: Judgement) -> Outcome:
    if not judgement.valid:
        return "invalid"
    return "met" if judgement.met else "missed"


def document(judgement: Judgement, level: ServiceLevel) -> dict[str, Any]:
    """Return the `--json` object. Its form is stable; see docs/reference/judging.md."""
    verdict = judgement.levels[0] if judgement.levels else None
    return {
        "verdict": outcome(judgement),
        "reasons": list(reasons(judgement)),
        "service_level": level.model_dump(mode="json"),
        "intervals": [
            {key: getattr(row, key) for key in _INTERVAL_KEYS} for row in judgement.intervals.select("judged")
        ],
        "maxima": (judgement.maxima or _NOTHING).model_dump(),
        "judged": verdict.judged if verdict else 0,
        "missed": verdict.missed if verdict else 0,
        "not_judged": verdict.not_judged if verdict else 0,
        "by_operation": {name: highest.model_dump() for name, highest in judgement.maxima_by_operation.items()},
        "format": judgement.format,
        "whole_run": [_whole_run(run, level) for run in judgement.whole_run],
        "errors": None if judgement.errors is None else dict(judgement.errors),
        "unit": judgement.unit if judgement.unit_why else None,
        "unit_why": judgement.unit_why or None,
        "left_out": [asdict(entry) for entry in judgement.left_out],
        "failed_share": judgement.failed_share,
    }


def _whole_run(run: WholeRun, level: ServiceLevel) -> dict[str, Any]:
    """Return figures without intervals. `below_bound` is about the whole run, not what a service level asks."""
    value = run.values_ms.get(level.percentile)
    return {
        "operation": run.operation or ALL_OPERATIONS,
        "count": run.count,
        "percentiles_ms": {f"{percentile:g}": value for percentile, value in sorted(run.values_ms.items())},
        "below_bound": None if value is None else value < level.bound_ms,
    }


def reasons(judgement: Judgement) -> Iterator[str]:
    """Explain why the measurement is invalid, or by how much the service level was missed; then remarks on the logs."""
    yield from judgement.reasons
    if judgement.met is False:
        yield from _by_how_much(judgement)
    yield from judgement.notes
    if judgement.format and judgement.failures_remark:
        yield judgement.failures_remark
    yield from (entry.sentence for entry in judgement.left_out)


def show(judgement: Judgement, level: ServiceLevel) -> None:
    """Print the intervals as a table, missed ones marked, then the maxima and the verdict as a sentence."""
    rows = judgement.intervals.select("judged")
    if rows:
        typer.secho(_line("start s", "count", "ops/s", _HEADINGS), bold=True)
        for row in rows:
            missed = row.met is False
            line = _line(f"{row.start_s:g}", f"{row.count}", f"{row.rate_ops_s:.1f}", _times(row))
            typer.secho(f"{line}  missed" if missed else line, fg="red" if missed else None)
        typer.secho("\nHighest over the judged intervals:", bold=True)
        for name, highest in {ALL_OPERATIONS: judgement.maxima or _NOTHING, **judgement.maxima_by_operation}.items():
            print_text(_line("", "", name, _times(highest)))
        typer.echo()
    for run in judgement.whole_run:
        values = ", ".join(
            f"{'max' if name == 100 else f'p{name:g}'} {value:.3f} ms" for name, value in sorted(run.values_ms.items())
        )
        counted = f"{run.operation or ALL_OPERATIONS}: {plural(run.count, 'operation')}"
        print_text(f"Whole run, {counted}{': ' if values else ''}{values}")
    if judgement.unit_taken:
        print_text(f"- values are taken to be in {judgement.unit_taken}")
    for reason in reasons(judgement):
        print_text(f"- {reason}")
    typer.secho(_sentence(judgement, level), bold=True, fg=None if outcome(judgement) == "met" else "red")


def _by_how_much(judgement: Judgement) -> Iterator[str]:
    if judgement.too_many_failed:
        yield f"{judgement.failed_share:.3%} of operations failed; less than {ERROR_LIMIT:.1%} may"
    verdict = judgement.levels[0]
    if not verdict.missed:
        return
    level = verdict.service_level
    missed = [row for row in judgement.intervals.select("judged") if row.met is False]
    known = [row for row in missed if row.judged_ms is not None]
    worst = max(known, key=lambda row: row.judged_ms or 0.0, default=None)
    judged = plural(verdict.judged, "interval")
    yield (
        f"p{level.percentile:g} is not below {level.bound_ms:g} ms in {verdict.missed} of {judged}: "
        f"the first begins at {missed[0].start_s:g} s"
        + (f", the worst has {worst.judged_ms:.3f} ms at {worst.start_s:g} s" if worst else "")
    )
    if failed := sum(row.failed for row in missed):
        yield f"{plural(failed, 'operation')} failed in the missed intervals"


def _sentence(judgement: Judgement, level: ServiceLevel) -> str:
    if not judgement.valid:
        return f"Invalid: this is no sound measurement, so {level} is neither met nor missed."
    verdict = judgement.levels[0]
    cut_off = f"; {verdict.not_judged} cut off at the end not judged" if verdict.not_judged else ""
    failed = f"; {judgement.failed_share:.2%} of operations failed" if judgement.too_many_failed else ""
    outcome = "Met" if judgement.met else "Missed"
    return f"{outcome}: {level}: missed in {verdict.missed} of {verdict.judged}{cut_off}{failed}."


def _line(start: str, count: str, rate: str, times: Sequence[str]) -> str:
    """Format one row as text. A table library took a third of the whole command's time on 720 rows."""
    return f"{start:>9} {count:>10} {rate:>10}" + "".join(f" {time:>11}" for time in times)


def _times(values: Percentiles | IntervalRow) -> list[str]:
    figures = [getattr(values, name) for name in SHOWN_NAMES]
    return ["-" if value is None else f"{value:.3f}" for value in figures]
