"""Any load generator on the load host of a cluster, by the commands that a definition gives."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from plimsoll.adapters.generators.command import commands, watching
from plimsoll.adapters.generators.command.commands import START, WAIT, program_in_archive
from plimsoll.adapters.generators.command.watcher import FIGURES, RATE, STOPPED
from plimsoll.adapters.generators.foreign_load import (
    LOAD,
    PLAN,
    POPULATE,
    Command,
    Ending,
    ForeignGenerator,
    Load,
    Plan,
    end_by_rule,
    folder_of,
    phase_of,
    renew_lease,
    run_s,
    tail,
)
from plimsoll.adapters.hosts.processes import ENDED, KILLED, missing, within
from plimsoll.domain.attempt.load_summary import BrokenRule, LoadSummary
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.system import LoadCommand, LoadGeneratorChoice, filled, placeholders, program_of
from plimsoll.domain.keys.timing import StopRule
from plimsoll.domain.keys.variant import Download
from plimsoll.domain.text.errors import LASTS, LoadError, Problem
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.artefacts import OWN_JDK, ProgramSource
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.ports.secrets import CommandSecrets

_ASK_TIMEOUT = timedelta(seconds=20)
# Some programs end their lines of progress with \r to draw them anew. `cut` bounds what is sent of an endless line.
_PROGRESS = """
cd -- "$3" || exit
[ ! -f "$1.begun" ] || echo $(($(date +%s) - $(cat "$1.begun")))
[ -z "$2" ] || tail -c 65536 "$1.console" | tr '\\r' '\\n' | grep -aoE -e "$2" | tail -n 1 | cut -c 1-200
"""
"""Asks a command's age in s, and for the last match of a pattern: by grep, which no pattern keeps busy for long."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# A command's length is told in whole seconds, which may be one less
_ROUNDING_S = 1
_MOST_NAMES = 10
_HANGS_S = 60
_SIGNALS = 126
"""From here on exit codes tell of signals, or of programs that could not be started."""


class CommandGenerator(ForeignGenerator):
    """An implementation of the LoadGenerator port."""

    name = "command"
    loads_endpoints = True
    can_wait = True
    mend_of_unkept = "name it there, as docs/reference/load-generators.md shows"
    summary_files: Sequence[str] = (
        PLAN,
        f"{LOAD}.begun",
        f"{LOAD}.end",
        STOPPED,
        START,
        FIGURES,
        watching.WATCH.format(LOAD),
    )

    def __init__(self, artefacts: ProgramSource) -> None:
        self._artefacts = artefacts

    def check(self, spec: LoadSpec) -> Sequence[Problem]:
        return commands.problems(spec, self._artefacts)

    def downloads(self, spec: LoadSpec) -> Sequence[Download]:
        command = spec.load_generator.command
        archive = command.archive if command else None  # `plan` asks of definitions with faults, too
        if archive is None:
            return ()
        is_there = self._artefacts.has_archive(archive)
        return [Download(name="the load generator's archive", size_bytes=None, is_there=is_there)]

    def prepare(self, spec: LoadSpec) -> None:
        command = _command(spec)
        if command.archive is not None:
            self._artefacts.unpacked(command.archive, program_in_archive(command), thorough=True)
        if "java_home" in _names(command):
            self._artefacts.jdk(OWN_JDK)

    def unready(self, host: Host, spec: LoadSpec) -> str:
        """Name the programs that the commands lack on that host, as far as their names are known before a load."""
        command = _command(spec)
        values = commands.known_values(spec, self._folders(host, command))
        lacking = missing(host, [program_of(line, values) for line in _lines(command)])
        if not lacking:
            return ""
        return f"there is no {' and no '.join(lacking)} on this host: install it, or correct `load_generator.command`"

    def unkept(self, rule: StopRule, choice: LoadGeneratorChoice) -> str:
        return watching.unkept(rule, choice.command.progress or "") if choice.command else ""

    def limits(self, spec: LoadSpec) -> Sequence[str]:
        return (
            "a command is judged by the times in its files; only they show whether these begin at the intended start",
            "a command reports neither its stalls, nor how late it sends, nor its mix of operations: these are not "
            "tested",
            "a command's failed operations are counted only where its files have them",
            "a command populates without verifying rows, and nobody waits for compactions after it",
        )

    def describe(self, host: Host, spec: LoadSpec) -> str:
        command = _command(spec)
        if command.version is None:
            return _program(command)
        argv = filled(command.version, {name: str(path) for name, path in self._folders(host, command).items()})
        ended = host.run(argv, timeout=_ASK_TIMEOUT, check=False)
        # `java -version`, for one, prints to its error output
        line = next((line.strip() for line in f"{ended.stdout}\n{ended.stderr}".splitlines() if line.strip()), "")
        return f"{_program(command)}: {shortened(line)}" if line else _program(command)

    def summary(self, files: Mapping[str, str]) -> LoadSummary:
        """Return the summary by how the command ended: what it did is in its own files."""
        plan, ending = Plan.parse(files.get(PLAN, "")), Ending.parse(files.get(f"{LOAD}.end", ""))
        if ending is None:
            return LoadSummary(complete=False, reason="the command of the timed run did not end")
        is_whole = ending.seconds >= plan.duration_s - _ROUNDING_S
        stopped = watching.broken_rule(files.get(STOPPED, ""))
        is_judged = self._can_be_judged(plan, ending) or stopped is not None
        is_cut_off = is_judged and (_hung(plan, ending) or not is_whole)
        short = f"the command ended after {ending.seconds} s of {plan.duration_s:g} s"
        return LoadSummary(
            complete=is_judged or (is_whole and ending.exit_code == 0),
            reason="" if is_whole else short,
            gave_up=_gave_up(plan, ending, short) if is_cut_off and not stopped else "",
            stopped=stopped,
            generator=plan.program or self.name,
            started_at=_started_at(files),
            duration_s=min(ending.seconds, plan.duration_s),
            warmup_s=min(plan.warmup_s, ending.seconds),
            attempted_ops_s=plan.rate,
            cpu_cores=ending.cpu_cores,
            remarks=tuple(watching.slow_lines(files.get(FIGURES, ""), files.get(watching.WATCH.format(LOAD), ""))),
        )

    def _can_be_judged(self, plan: Plan, ending: Ending) -> bool:
        """Tell whether a program that failed did so under load.

        A database that no longer answers has many programs give up, with an exit code of their own; who is killed by a
        signal before its time is no witness. What ends in warm-up has measured nothing.
        """
        has_given_up = 0 < ending.exit_code < _SIGNALS or _hung(plan, ending)
        return has_given_up and ending.seconds > plan.warmup_s

    def response_time_logs(self, spec: LoadSpec, names: Iterable[str]) -> Mapping[str, str]:
        return {name: name for name in _named(names, _command(spec).outputs)}

    def _load(self, host: Host, request: LoadRequest) -> Load:
        # Many programs take a rate of 0 as no limit at all
        if not request.own_ops_s:
            what = f"{request.load_ops_s} ops/s can't be shared among {request.parts} load hosts"
            raise LoadError(what, where="load_generator.hosts", mend="write fewer `hosts`")
        command = _command(request.spec)
        values = commands.of_load(request, folder_of(host), self._folders(host, command))
        database, populates = request.database, commands.populates(request, command)
        line = command.populate if populates else None
        populate = [Command(POPULATE, filled(line, values))] if line else []
        load = Load([*populate, Command(LOAD, filled(command.run, values))])
        watched = watching.watched(load, request, command)
        *earlier, run = watched.commands
        # A database that stands still can keep its clients waiting for ever.
        timed = replace(run, argv=[*within(run_s(request.spec) + _HANGS_S), *run.argv])
        secrets = database.secrets if database else CommandSecrets()
        return commands.waiting(replace(watched, commands=[*earlier, timed], secrets=secrets), request)

    def begin(self, host: Host, job_id: str, start: datetime, local: datetime) -> None:
        times = {"start": start.astimezone(UTC).isoformat(), "local": local.timestamp()}
        host.write(folder_of(host) / START, json.dumps(times))

    def end(self, host: Host, job_id: str, broken: BrokenRule) -> None:
        end_by_rule(host, broken)

    def _stopped(self, host: Host) -> BrokenRule | None:
        return watching.broken_rule(tail(host, STOPPED))

    def _folders(self, host: Host, command: LoadCommand) -> dict[str, PurePosixPath]:
        folders = {}
        if command.archive is not None:
            folders["archive"] = host.install(self._artefacts.unpacked(command.archive, program_in_archive(command)))
        if "java_home" in _names(command):
            folders["java_home"] = host.install(self._artefacts.jdk(OWN_JDK).home)
        return folders

    def _plan(self, request: LoadRequest) -> dict[str, Any]:
        command = _command(request.spec)
        return {
            "program": _program(command),
            "progress": command.progress or "",
            "outputs": command.outputs,
            "is_leased": request.database is not None,
        }

    def _running(self, host: Host, plan: Plan, command: str, console: str) -> LoadStatus:
        if plan.is_leased:
            renew_lease(host)
        if command == WAIT:
            return LoadStatus("running", seconds_left=plan.duration_s, is_ready=not tail(host, START))
        is_watched = watching.has_groups(plan.progress)
        argv = ("/bin/sh", "-c", _PROGRESS, "sh", command, "" if is_watched else plan.progress, str(folder_of(host)))
        age, *matches = host.run(argv, timeout=_ASK_TIMEOUT, check=False).stdout.splitlines() or ["0"]
        elapsed_s = float(age) if age.isdecimal() else 0.0
        status = phase_of(plan, command, elapsed_s)
        if not is_watched or command != LOAD:
            return replace(status, achieved_ops_s=_rate(matches[0]) if matches else None)
        figures = tail(host, FIGURES)
        rate = float(json.loads(figures)[RATE]) if figures else None
        # A program may take long to end
        return replace(status, achieved_ops_s=rate, stopped=self._stopped(host))

    def _incomplete(self, host: Host, plan: Plan, console: str) -> str:
        names = [path.name for path in self.files(host) if path.name not in commands.OWN_FILES]
        if not plan.outputs or _named(names, plan.outputs):
            return ""
        written = f"{', '.join(names[:_MOST_NAMES])}{' …' * (len(names) > _MOST_NAMES)}"
        outputs = " or ".join(plan.outputs)
        return f"none of the files {written} is named {outputs}: correct `load_generator.command.outputs`; {LASTS}"


def _rate(printed: str) -> float | None:
    """Return the first number in it, ops/s; None without one, and of an address, a date or thousands with dots."""
    number = _NUMBER.search(printed)
    return float(number[0].replace(",", "")) if number and number[0].count(".") < 2 else None


def _started_at(files: Mapping[str, str]) -> datetime | None:
    """Return the common start by the first host's clock, where the load waited for one, else the command's own."""
    if start := files.get(START, ""):
        return datetime.fromisoformat(json.loads(start)["start"])
    begun = files.get(f"{LOAD}.begun", "")
    return datetime.fromtimestamp(float(begun), UTC) if begun.strip().isdecimal() else None


def _command(spec: LoadSpec) -> LoadCommand:
    command = spec.load_generator.command
    assert command is not None, "checked before"
    return command


def _named(names: Iterable[str], patterns: Sequence[str]) -> Sequence[str]:
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _hung(plan: Plan, ending: Ending) -> bool:
    """Tell whether `timeout` had to end the command."""
    # Whoever kills the command leaves the same exit code: `timeout` did so only if its limit was over
    was_killed = ending.exit_code == KILLED and ending.seconds >= plan.duration_s + _HANGS_S
    return ending.exit_code == ENDED or was_killed


def _gave_up(plan: Plan, ending: Ending, short: str) -> str:
    how = f"{short} with exit code {ending.exit_code}"
    if _hung(plan, ending):
        how = f"the command did not end within {_HANGS_S} s after its time, and was ended"
    return f"{how}: what was due and has no answer in its files counts as slow (its console tells more)"


def _names(command: LoadCommand) -> set[str]:
    return {name for line in _lines(command) for name in placeholders(line)}


def _lines(command: LoadCommand) -> Sequence[str]:
    return [line for line in (command.populate, command.run, command.version) if line]


def _program(command: LoadCommand) -> str:
    """Return the name of the program: `tlp-stress`."""
    words = (word for word in command.run.split() if "=" not in word and word != "env")  # As in `env A=1 gen`
    return PurePosixPath(next(words)).name
