"""cassandra-stress, Cassandra's own load generator, on the load host of a cluster."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from plimsoll.adapters.artefacts.java_programs import java_argv
from plimsoll.adapters.generators.cassandra_stress import workloads
from plimsoll.adapters.generators.cassandra_stress.checks import PROGRAM, problems, unread_queries
from plimsoll.adapters.generators.foreign_load import (
    LOAD,
    PLAN,
    POPULATE,
    Command,
    Ending,
    ForeignGenerator,
    Load,
    Plan,
    folder_of,
    phase_of,
)
from plimsoll.adapters.generators.workload_options import given_options
from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.domain.keys.variant import Download
from plimsoll.domain.text.errors import Problem
from plimsoll.ports.artefacts import OWN_JDK, ProgramSource
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus

_MAIN = "org.apache.cassandra.stress.Stress"
_LOG_HEAD = Command("log-head", ("head", "-c", "600", workloads.HDR))
"""Brings the beginning of the log, which tells when the timed run began, into a file that is small."""
_BASE = re.compile(r"^#\[(?:BaseTime|StartTime): ([\d.]+)", re.MULTILINE)
_FIRST = re.compile(r"^Tag=[^,]+,([\d.]+),", re.MULTILINE)
_TOTAL = "total"
_ROW = re.compile(r"^(?P<type>[A-Za-z]\w*),\s+(?P<figures>[\d.NaN, -]+)$")
# Figures: operations, ops/s, pk/s, row/s, mean, p50, p95, p99, p99.9, max (ms), time (s), its error, failed operations
_READ, _UP_TO_TIME, _ERRORS = (0, 1, 4, 10), 11, 12
_SLACK_S = 0.5
"""A row ends at a whole second of the host's clock, give or take rounding; records are a second or longer."""


@dataclass(frozen=True)
class Row:
    """One row of the console output.

    `operations` counts from the beginning of the run; `ops_s`, `mean_ms` and `errors` cover the row's interval. In a
    run at a fixed rate, `mean_ms` is the mean response time. `time_s`: the end of the interval, from the beginning of
    the run.
    """

    operation: str
    operations: int
    ops_s: float
    mean_ms: float
    time_s: float
    errors: int


class CassandraStress(ForeignGenerator):
    """cassandra-stress of a Cassandra release."""

    name = PROGRAM.name
    summary_files: Sequence[str] = (PLAN, f"{LOAD}.console", f"{LOAD}.end", _LOG_HEAD.console)

    def __init__(self, artefacts: ProgramSource) -> None:
        self._artefacts = artefacts

    def check(self, spec: LoadSpec) -> Sequence[Problem]:
        return problems(spec, self._artefacts)

    def downloads(self, spec: LoadSpec) -> Sequence[Download]:
        return self._artefacts.downloads_of_program(PROGRAM)

    def prepare(self, spec: LoadSpec) -> None:
        self._artefacts.prepare_program(PROGRAM)

    def unchecked(self, spec: LoadSpec) -> Sequence[str]:
        return tuple(unread_queries(given_options(spec.workload)))

    def limits(self, spec: LoadSpec) -> Sequence[str]:
        return (
            "cassandra-stress writes response times since it is run with `fixed=`; without, it has service times only",
            "cassandra-stress counts failed operations among its response times",
            "cassandra-stress has no warm-up at the load: its own is off, and the first part of the run is not judged",
            "cassandra-stress drops operations that were due and not sent when the run ends: they show as a rate that "
            "was not achieved",
            "cassandra-stress reports neither its stalls nor how late it sends nor what waits at each second: "
            "these are not tested",
            "cassandra-stress populates without verifying rows, and nobody waits for compactions after it",
        )

    def describe(self, host: Host, spec: LoadSpec) -> str:
        jars = self._artefacts.program(PROGRAM).glob("apache-cassandra-*.jar")
        release = next((jar.stem.removeprefix("apache-cassandra-") for jar in jars), "an unknown release")
        return f"{self.name} of Cassandra {release} on {OWN_JDK}"

    def summary(self, files: Mapping[str, str]) -> LoadSummary:
        """Return the summary, from the console output, the load's end, and the head of its log.

        It has no number of operations: only the log counts them, including failed ones.
        """
        printed, ending = files.get(f"{LOAD}.console", ""), Ending.parse(files.get(f"{LOAD}.end", ""))
        plan = Plan.parse(files.get(PLAN, ""))
        if not printed or ending is None:
            return LoadSummary(complete=False, reason="cassandra-stress left no account of a run that ended")
        reported = _console_rows(printed)
        # Of all operations, after the warm-up
        begin_s, end_s = plan.warmup_s + _SLACK_S, plan.duration_s + _SLACK_S
        judged = [row for row in reported if row.operation == _TOTAL and begin_s < row.time_s <= end_s]
        errors = sum(row.errors for row in judged)
        duration_s = _reached_s(reported)
        # The mean number of operations that were due and not answered yet, by Little's law
        under_way = max((row.ops_s * row.mean_ms / 1000 for row in judged), default=None)
        incomplete = _unfinished(plan, printed, duration_s)
        return LoadSummary(
            complete=not incomplete and ending.exit_code == 0,
            reason=incomplete,
            generator=self.name,
            started_at=_started_at(files.get(_LOG_HEAD.console, "")),
            duration_s=min(duration_s, plan.duration_s),
            warmup_s=min(plan.warmup_s, duration_s),
            attempted_ops_s=plan.rate,
            shares=dict(plan.shares),
            errors={"failed": errors} if errors else {},
            cpu_cores=ending.cpu_cores,
            # Its threads have one operation under way each; what is more waits for one of them.
            in_flight_max=None if under_way is None else min(round(under_way), plan.in_flight),
        )

    def response_time_logs(self, spec: LoadSpec, names: Iterable[str]) -> Mapping[str, str]:
        return {ALL_OPERATIONS: workloads.HDR} if workloads.HDR in names else {}

    def _load(self, host: Host, request: LoadRequest) -> Load:
        java = self._java(host, request.spec)
        populate = workloads.populate_arguments(request)
        commands = [Command(POPULATE, (*java, *populate))] if populate else []
        commands.append(Command(LOAD, (*java, *workloads.load_arguments(request))))
        files = {workloads.LOGBACK: workloads.LOGBACK_CONTENT}
        if request.spec.workload.name == "user":
            files[workloads.PROFILE] = workloads.profile(request.spec)
        return Load(commands, [_LOG_HEAD], files)

    def _java(self, host: Host, spec: LoadSpec) -> Sequence[str]:
        heap, folder = spec.load_generator.heap, folder_of(host)
        files = (f"-Dlogback.configurationFile={folder / workloads.LOGBACK}", f"-Dcassandra.storagedir={folder}")
        return java_argv(self._artefacts, PROGRAM, _MAIN, host, jvm=(f"-Xms{heap}", f"-Xmx{heap}", *files))

    def _plan(self, request: LoadRequest) -> dict[str, Any]:
        workload = request.spec.workload
        return {"rows": workloads.rows(workload), "shares": workloads.shares(workload)}

    def _running(self, host: Host, plan: Plan, name: str, printed: str) -> LoadStatus:
        totals = [row for row in _console_rows(printed) if row.operation == _TOTAL]
        # While it connects it prints rows too, with a rate of 0
        if not any(row.ops_s for row in totals):
            return phase_of(plan, name, 0.0)
        last = totals[-1]
        status = phase_of(plan, name, last.time_s)
        left = status.seconds_left
        if name == POPULATE and last.ops_s:
            left = max(plan.rows - last.operations, 0) / last.ops_s + plan.duration_s
        return replace(status, achieved_ops_s=last.ops_s, seconds_left=left, errors=last.errors)

    def _incomplete(self, host: Host, plan: Plan, printed: str) -> str:
        return _unfinished(plan, printed, _reached_s(_console_rows(printed)))


def _reached_s(reported: Sequence[Row]) -> float:
    return reported[-1].time_s if reported else 0.0


def _unfinished(plan: Plan, printed: str, reached_s: float) -> str:
    """Tell what is missing of a run that should have ended as planned; empty if nothing is."""
    if not any(line.strip() == "END" for line in printed.splitlines()):
        return "cassandra-stress did not come to the end of its run"
    if reached_s < plan.duration_s - 1:
        return f"cassandra-stress says it ended, but printed nothing after {reached_s:g} s of {plan.duration_s:g} s"
    return ""


def _started_at(head: str) -> datetime | None:
    base, first = _BASE.search(head), _FIRST.search(head)
    return datetime.fromtimestamp(float(base[1]) + float(first[1]), UTC) if base and first else None


def _console_rows(text: str) -> tuple[Row, ...]:
    """Return all complete rows of the console output in order. A row with a figure that is not a number is left out.

    Every interval of the log gives a row for all operations (`total,`) and, where there are several operations, one row
    for each. The results of the whole run follow, and `END` if the run was complete.
    """
    complete = []
    for match in filter(None, (_ROW.match(line.strip()) for line in text.splitlines())):
        figures = match["figures"].split(",")
        with suppress(ValueError, IndexError):  # a row without figures, or one that was cut short
            values = [float(figure) for figure in figures[:_UP_TO_TIME]]
            operations, ops_s, mean_ms, time_s = (values[place] for place in _READ)
            errors = int(float(figures[_ERRORS]))
            if all(map(isfinite, (operations, ops_s, mean_ms, time_s))):
                complete.append(Row(match["type"], int(operations), ops_s, mean_ms, time_s, errors))
    return tuple(complete)
