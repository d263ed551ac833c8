"""Plimsoll's own load generator on the load host of a cluster."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from plimsoll import __version__
from plimsoll.adapters.artefacts.java_programs import java_argv
from plimsoll.adapters.generators.foreign_load import (
    END,
    PLAN,
    TAIL_BYTES,
    end_by_rule,
    folder_of,
    parse_object,
    renew_lease,
    tail,
)
from plimsoll.adapters.generators.plimsoll_stress import command, remarks, reports
from plimsoll.adapters.generators.plimsoll_stress.catalogue import OWN_STATEMENTS
from plimsoll.adapters.generators.plimsoll_stress.checks import problems
from plimsoll.adapters.generators.plimsoll_stress.own_statements import unread_statements
from plimsoll.adapters.generators.workload_options import given_options
from plimsoll.adapters.hosts.base import console_path
from plimsoll.domain.attempt.load_summary import BrokenRule, LoadSummary
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.domain.keys.system import LoadGeneratorChoice
from plimsoll.domain.keys.timing import StopRule
from plimsoll.domain.keys.variant import Download
from plimsoll.domain.keys.workload import BASIC_TIME_SERIES, Workload
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.wording import plural
from plimsoll.ports.artefacts import LOAD_JDK, ProgramSource
from plimsoll.ports.host import Host, Job, JobStatus
from plimsoll.ports.load_generator import LoadGenerator, LoadRequest, LoadStatus

_CPU_S = 53e-6
"""Processor time of an operation, s: docs/contributing/performance.md, the load generator and a plain driver loop."""
_INTERVAL = timedelta(seconds=1)
_ENV = {"LC_ALL": "C.UTF-8"}
"""So that the JVM finds folders whose names have other letters than English ones, whatever the host's language."""
_FILES = (command.CSV, command.PROGRESS, command.SUMMARY, command.OPTIONS, command.START, END)


class PlimsollStress(LoadGenerator):
    """It can do all that the port knows."""

    name = "plimsoll-stress"
    summary_files: Sequence[str] = (command.SUMMARY,)
    progress_file = command.PROGRESS
    failures_file = f"{command.HDR}.errors"
    can_end_early = True
    can_close_loop = True
    can_go_on = True
    can_wait = True
    can_sample = True
    logs_in = True
    keyspace = command.KEYSPACE

    def __init__(self, artefacts: ProgramSource) -> None:
        self._artefacts = artefacts

    def check(self, spec: LoadSpec) -> Sequence[Problem]:
        return problems(spec, self._artefacts)

    def downloads(self, spec: LoadSpec) -> Sequence[Download]:
        downloads = (self._artefacts.downloads_of_program(program) for program in command.programs(spec))
        return list(dict.fromkeys(chain.from_iterable(downloads)))

    def unkept(self, rule: StopRule, choice: LoadGeneratorChoice) -> str:
        return ""

    def prepare(self, spec: LoadSpec) -> None:
        for program in command.programs(spec):
            self._artefacts.prepare_program(program)

    def unchecked(self, spec: LoadSpec) -> Sequence[str]:
        is_own = spec.workload.name == OWN_STATEMENTS
        return tuple(unread_statements(given_options(spec.workload))) if is_own else ()

    def limits(self, spec: LoadSpec) -> Sequence[str]:
        return tuple(remarks.limits(spec))

    def written(self, spec: LoadSpec, loads: Sequence[int]) -> str:
        return remarks.written(spec, loads)

    def processors(self, load_ops_s: int) -> float | None:
        return load_ops_s * _CPU_S

    def start(self, host: Host, request: LoadRequest) -> None:
        folder = folder_of(host)
        is_leased = request.database is not None
        plan = {"job_id": request.job_id, "duration_s": request.spec.timing.duration.total_seconds()}
        host.write(folder / PLAN, json.dumps({**plan, "is_leased": is_leased}))
        if is_leased:
            renew_lease(host)
        self._start(host, request, folder, command.run_arguments(request, folder))

    def with_rows(self, spec: LoadSpec, rows: int) -> LoadSpec:
        """Return the same with a number of rows, by the workload's option for it.

        Raises ValueError where the workload has no such option.
        """
        return remarks.with_rows(spec, rows)

    def start_sample(self, host: Host, request: LoadRequest, keyspace: str) -> None:
        folder = reports.folder_of(host, request.job_id)
        self._start(host, request, folder, command.sample_arguments(request, folder, keyspace))

    def sample_status(self, host: Host, job_id: str) -> LoadStatus:
        return reports.status(host, job_id)

    def status(self, host: Host, job_id: str) -> LoadStatus:
        """Return the state: running, complete, or failed with the reason. The exit code alone is never trusted."""
        job = host.status(job_id)
        if job.state == "running":
            if _plan(host)["is_leased"]:
                renew_lease(host)
            return _running(host)
        summary = reports.summary_in(host, folder_of(host))
        fault = _fault(host, job, summary)
        if fault is None:
            return LoadStatus("complete", "load", seconds_left=0.0, stopped=summary.stopped)
        reason = f"{fault}{reports.console_end(host, job_id)}"
        return LoadStatus("failed", _running(host).phase, reason=reason)

    def settles(self, workload: Workload) -> bool:
        """Return True for all workloads but BasicTimeSeries, whose published runs did not wait."""
        return workload.name != BASIC_TIME_SERIES

    def begin(self, host: Host, job_id: str, start: datetime, local: datetime) -> None:
        times = {"start": _utc(start), "local": _utc(local)}
        host.write(folder_of(host) / command.START, json.dumps(times))

    def end(self, host: Host, job_id: str, broken: BrokenRule) -> None:
        end_by_rule(host, broken)

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        # A crash may leave others, with whatever was in its memory.
        own = [path for path in host.files(folder_of(host)) if path.name in _FILES or path.name.startswith(command.HDR)]
        console = console_path(host.root, _plan(host)["job_id"])
        return [*own, *(path for path in host.files(console.parent) if path == console)]

    def describe(self, host: Host, spec: LoadSpec) -> str:
        return f"{self.name} {__version__} on {LOAD_JDK}"

    def summary(self, files: Mapping[str, str]) -> LoadSummary:
        return reports.parse_summary(files.get(command.SUMMARY, ""))

    def seconds(self, text: str) -> Sequence[GeneratorSecond]:
        return tuple(reports.seconds(text))

    def response_time_logs(self, spec: LoadSpec, names: Iterable[str]) -> Mapping[str, str]:
        return reports.response_time_logs(names)

    def _start(self, host: Host, request: LoadRequest, folder: PurePosixPath, arguments: Sequence[str]) -> None:
        heap, clients = request.spec.load_generator.heap, command.CLIENT_PROGRAMS[request.protocol]
        coreless = ("-XX:-CreateCoredumpOnCrash",) if request.database else ()  # it knows a password
        jvm = (f"-Xms{heap}", f"-Xmx{heap}", *clients.jvm, *coreless)
        argv = java_argv(self._artefacts, clients.program, clients.main, host, *arguments, jvm=jvm)
        if "--options" in arguments:
            options = remarks.with_last_row(given_options(request.spec.workload))
            host.write(folder / command.OPTIONS, json.dumps(options, indent=1))
        access = command.access(request.database) if request.database else ""
        host.start(Job(request.job_id, argv, request.expires, env=_ENV, cwd=folder, stdin=access))


def _utc(at: datetime) -> str:
    """Return the time in the format that `java.time.Instant` reads."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _running(host: Host) -> LoadStatus:
    text = tail(host, command.PROGRESS)
    if reports.is_ready(text):
        has_start = bool(tail(host, command.START))
        return LoadStatus("running", seconds_left=_plan(host)["duration_s"], errors=0, is_ready=not has_start)
    progress = reports.last_progress(text)
    if progress is None:
        return LoadStatus("running")
    if not progress.planned:  # populating as fast as it can, and nothing is answered yet
        return LoadStatus("running", progress.phase, errors=progress.errors)
    timed = timedelta(seconds=_plan(host)["duration_s"] if progress.phase == "populate" else 0)
    return LoadStatus(
        "running",
        progress.phase,
        achieved_ops_s=progress.achieved_ops_s,
        seconds_left=(progress.left + timed).total_seconds(),
        errors=progress.errors,
        note=_draining(progress) or "; ".join(map(str, progress.levels)),
        levels=progress.levels,
    )


def _draining(progress: reports.Progress) -> str:
    """Tell what the load waits for after its timed run, and how long at most; empty before its end."""
    if progress.missing is None:
        return ""
    most = max(progress.planned + command.DRAIN - progress.elapsed, timedelta(0)).total_seconds()
    answers = f"the answers to {plural(progress.missing, 'operation')}" if progress.missing else "the last answers"
    return f"its time is over: waiting at most {most:.0f} s for {answers}"


def _plan(host: Host) -> dict[str, Any]:
    """Return the settings that the load was started with; an empty job id where it was not started."""
    return {"job_id": "", "duration_s": 0, "is_leased": False, **parse_object(PLAN, tail(host, PLAN))}


def _fault(host: Host, job: JobStatus, summary: LoadSummary) -> str | None:
    """Explain why an ended load is incomplete; None if it is complete."""
    if job.state == "missing":
        return "the load was never started"
    if not summary.complete:
        return f"{summary.reason} ({_ending(job)})"
    if job.exit_code != 0:
        return f"the summary says complete, but the load generator {_ending(job)}"
    names = {path.name: path for path in host.files(folder_of(host))}
    logs = reports.response_time_logs(names).values()
    ends = [reports.log_end(host.read_tail(names[name], max_bytes=TAIL_BYTES)) for name in logs]
    reached = min((end or timedelta(0) for end in ends), default=timedelta(0))
    planned = timedelta(seconds=summary.ended_s or _plan(host)["duration_s"])
    if reached > planned - _INTERVAL:
        return None
    return f"the summary says complete, but the histogram logs end after {reached} of {planned}"


def _ending(job: JobStatus) -> str:
    return "was killed" if job.exit_code is None else f"ended with exit code {job.exit_code}"
