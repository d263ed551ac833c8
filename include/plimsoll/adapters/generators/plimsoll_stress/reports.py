"""Read the files that the program writes about its run: progress, summary, histogram logs. Pure.

The progress of the job that writes a sample of a workload's rows. It has a folder of its own on the load host.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import mul
from pathlib import PurePosixPath
from typing import Any

from plimsoll.adapters.generators.foreign_load import TAIL_BYTES, last_lines, parse_object
from plimsoll.adapters.generators.plimsoll_stress import command
from plimsoll.adapters.hosts.base import console_path
from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.attempt.status import LevelProgress, LoadPhase
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.domain.text.wording import plural
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadStatus

_PHASES: Mapping[str, LoadPhase] = {
    "connect": "populate",
    "populate": "populate",
    "warmup": "warm-up",
    "measure": "load",
    "drain": "load",
}
_KINDS: Mapping[str, str] = {"selects": "reads", "mutations": "writes"}
"""Labels of BasicTimeSeries, which are tlp-stress'; other workloads' labels are the operations' names."""
_SUMMARY_BYTES = 1 << 20
"""The most that is read of a summary: twenty failures and warnings of each stage, with messages and statements."""
_RESPONSE = ".hdr-intended-"
_NOTHING: Mapping[str, Any] = {"seconds": 0.0, "operations": {}, "errors": {}}
"""The warm-up of a run that is judged from its start."""
_OWN = ("cpu_cores", "hiccup_max_ms", "in_flight_max", "backlog_max")


@dataclass(frozen=True)
class Progress:
    """One line of the progress file."""

    phase: LoadPhase
    elapsed: timedelta
    planned: timedelta
    """The length of the phase (populating, or the timed run with its warm-up)."""
    achieved_ops_s: float
    errors: int
    """Operations that failed in this stage so far."""
    missing: int | None = None
    """Operations that were due in the timed run and have no answer yet; None before its end."""
    levels: tuple[LevelProgress, ...] = ()
    """How each service level fares so far; empty before its first interval is over."""

    @property
    def left(self) -> timedelta:
        """Return the time until the stage's planned end."""
        return max(self.planned - self.elapsed, timedelta(0))


def last_progress(text: str) -> Progress | None:
    """Return the last complete line at the end of the progress file; None where there is none yet."""
    lines = text.split("\n")[:-1]  # what follows the last line's end is still being written
    for line in reversed(lines):
        with suppress(ValueError, KeyError):  # the first line of a tail is a part
            return _progress(json.loads(line))
    return None


def is_ready(text: str) -> bool:
    """Tell whether the last complete line of the progress file says that the program waits for its start."""
    lines = text.split("\n")[:-1]
    with suppress(ValueError, KeyError, IndexError):
        return bool(json.loads(lines[-1])["phase"] == "ready")
    return False


def seconds(text: str) -> Iterator[GeneratorSecond]:
    """Yield the generator's own state in every second of the timed run, warm-up included. A cut line is left out."""
    failed = 0
    for line in text.split("\n"):
        try:
            fields = json.loads(line)
        except ValueError:  # the last line of a program that was killed
            continue
        # A line with the phase `ready` has no figures
        if _PHASES.get(fields["phase"], "populate") != "populate":
            at, so_far = datetime.fromisoformat(fields["time"]), sum(fields["errors"].values())
            yield GeneratorSecond(
                at,
                fields["hiccup_max_ms"],
                fields["gc_ms"],
                fields["cpu_cores"],
                in_flight=fields["in_flight"],
                backlog=fields["backlog"],
                lag_ms=fields["schedule_lag_ms"]["max"],
                failed=so_far - failed,
            )
            failed = so_far


def _progress(fields: Mapping[str, Any]) -> Progress:
    return Progress(
        phase=_PHASES[fields["phase"]],
        elapsed=timedelta(seconds=fields["elapsed_s"]),
        planned=timedelta(seconds=fields["planned_s"]),
        achieved_ops_s=fields["achieved_ops_s"],
        errors=sum(fields["errors"].values()),
        levels=tuple(LevelProgress.model_validate(level) for level in fields.get("watch", ()) if level["judged"]),
        missing=fields["in_flight"] + fields["backlog"] if fields["phase"] == "drain" else None,
    )


def log_end(text: str) -> timedelta | None:
    """Return the end of the last complete interval in a histogram log, from the log's start; None where it has none."""
    intervals = [line.split(",") for line in text.split("\n")[:-1] if line[:1].isdigit()]
    whole = [fields for fields in intervals if len(fields) == 4]
    return timedelta(seconds=float(whole[-1][0]) + float(whole[-1][1])) if whole else None


def response_time_logs(names: Iterable[str]) -> dict[str, str]:
    """Return operation → file name, for the names of response-time logs."""
    labels = {name.partition(_RESPONSE)[2]: name for name in names}
    return {_KINDS.get(label, label): name for label, name in labels.items() if label}


def parse_summary(text: str) -> LoadSummary:
    """Return the summary file in neutral form. An empty text gives an incomplete run, with that as its reason.

    Raises LoadError for what is no document.
    """
    if not text:
        return LoadSummary(complete=False, reason="the load generator left no summary")
    document = parse_object(command.SUMMARY, text)
    run = document["run"]
    stages = {"populating": document["populate"], "the timed run": run}
    accounts = [(stage, account) for stage, account in stages.items() if account]
    general = {
        "complete": document["complete"],
        "reason": document["reason"] or "",
        "generator": document["generator"],
        "compactions_left": ((document["populate"] or {}).get("settle") or {}).get("compactions_left"),
        "failures": tuple(failure for stage, account in accounts for failure in _failures(stage, account)),
        "remarks": tuple(remark for stage, account in accounts for remark in _remarks(stage, account)),
    }
    return LoadSummary(**general) if run is None else _of_run(general, run)


def summary_in(host: Host, folder: PurePosixPath) -> LoadSummary:
    """Return the summary in that folder of the load host. Raises HostError, LoadError."""
    return parse_summary(host.read_tail(folder / command.SUMMARY, max_bytes=_SUMMARY_BYTES))


def console_end(host: Host, job_id: str) -> str:
    """Return the last lines of a job's console, to follow the reason of its failure. Raises HostError."""
    return last_lines(host.read_tail(console_path(host.root, job_id), max_bytes=TAIL_BYTES))


def _failures(stage: str, account: Mapping[str, Any]) -> Iterator[str]:
    for failure in account["failures"]:
        yield f"{stage}: {failure['operation']} failed as `{failure.get('kind', 'other')}` {_counted(failure)}"


def _remarks(stage: str, account: Mapping[str, Any]) -> Iterator[str]:
    warnings = account["server_warnings"]
    if warnings["count"]:
        yield f"{stage}: the database sent {plural(warnings['count'], 'warning')} with its answers"
    for warning in warnings["first"]:
        yield f"{stage}: it warned of {warning['operation']} {_counted(warning)}"
    if problem := (account.get("settle") or {}).get("problem"):
        yield f"whether compactions of populating were left is not known: {' '.join(problem.split())}"


def _counted(remark: Mapping[str, Any]) -> str:
    """Tell how often that was, and its first message with its statement, in one line."""
    message = " ".join(f"{remark['message']} — {remark['statement']}".split())
    return f"{plural(remark['count'], 'time')}, first: {message}"


def _of_run(general: Mapping[str, Any], run: Mapping[str, Any]) -> LoadSummary:
    """Return the summary of the judged time; with that of the whole run where a stop rule ended it."""
    after_warmup = LoadSummary(**general, **_figures(run, run["warmup"], run["measured"]))
    if after_warmup.stopped is None:
        return after_warmup
    whole = LoadSummary(**general, **_figures(run, _NOTHING, _together(run["warmup"], run["measured"])))
    return after_warmup.model_copy(update={"from_start": whole}) if run["measured"]["seconds"] else whole


def _figures(run: Mapping[str, Any], warmup: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    generator = measured["generator"]
    return {
        "decided_s": run.get("decided_s"),
        "stopped": run.get("stopped"),
        "started_at": run["started"],
        "duration_s": warmup["seconds"] + measured["seconds"],
        "warmup_s": warmup["seconds"],
        "attempted_ops_s": run["attempted_ops_s"],
        "answered": run["completed"],
        "achieved_ops_s": measured["achieved_ops_s"],
        "rows_s": measured.get("rows_s"),
        # What the warm-up did not answer belongs to the judged time, also what came after its end or never.
        "operations": _less(_answered(run["operations"]), _answered(warmup["operations"])),
        "shares": {_KINDS.get(label, label): share for label, share in run["shares"].items()},
        "errors": {kind: count for kind, count in _less(run["errors"], warmup["errors"]).items() if count},
        "cpu_cores": generator["cpu_cores"],
        "schedule_lag_p99_ms": generator["schedule_lag_ms"]["p99"],
        "schedule_lag_max_ms": generator["schedule_lag_ms"]["max"],
        "hiccup_max_ms": generator["hiccup_max_ms"],
        "in_flight_max": generator["in_flight_max"],
        "backlog_max": generator["backlog_max"],
    }


def _together(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return parts of a run as one. Of the generator's own figures the largest counts."""
    known = [part for part in parts if part["seconds"]] or parts[:1]
    own = [part["generator"] for part in known]
    lags = [generator["schedule_lag_ms"] for generator in own]
    return {
        "seconds": sum(part["seconds"] for part in known),
        **{name: _mean(known, name) for name in ("achieved_ops_s", "rows_s")},
        "generator": {
            **{name: max(generator[name] for generator in own) for name in _OWN},
            "schedule_lag_ms": {name: max(lag[name] for lag in lags) for name in ("p99", "max")},
        },
    }


def _mean(parts: Sequence[Mapping[str, Any]], rate: str) -> float | None:
    """Return the rate over all parts of a run, 1/s; None where it is not known of one."""
    rates, seconds = [part.get(rate) for part in parts], [part["seconds"] for part in parts]
    return None if None in rates else sum(map(mul, rates, seconds)) / (sum(seconds) or 1)


def _answered(operations: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {_KINDS.get(label, label): counts["completed"] for label, counts in operations.items()}


def _less(whole: Mapping[str, int], part: Mapping[str, int]) -> dict[str, int]:
    return {kind: count - part.get(kind, 0) for kind, count in whole.items()}


def folder_of(host: Host, job_id: str) -> PurePosixPath:
    return host.root / "samples" / job_id


def status(host: Host, job_id: str) -> LoadStatus:
    """Return the state of a sample: running, complete, or failed with the reason and the console's last lines."""
    job, folder = host.status(job_id), folder_of(host, job_id)
    if job.state == "running":
        progress = last_progress(host.read_tail(folder / command.PROGRESS, max_bytes=TAIL_BYTES))
        return LoadStatus("running", achieved_ops_s=progress.achieved_ops_s if progress else None)
    summary = summary_in(host, folder)
    if summary.complete and job.exit_code == 0:
        return LoadStatus("complete")
    reason = summary.reason or f"it ended with exit code {job.exit_code}"
    what = f"a sample of the rows could not be written: {reason}{console_end(host, job_id)}"
    return LoadStatus("failed", reason=what)
