"""A load generator by other authors, run as a job of several commands: populate, then the timed run. One shell script
runs them one after another, and leaves a record of each. Folder, plan and console are in the form that all generators
share.
"""

import json
import re
import shlex
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import PurePosixPath
from typing import Any

from plimsoll.adapters.hosts.processes import given
from plimsoll.domain.attempt.load_summary import BrokenRule
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.text.errors import LoadError
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.host import Host, Job, JobStatus
from plimsoll.ports.load_generator import LoadGenerator, LoadRequest, LoadStatus
from plimsoll.ports.secrets import CommandSecrets

END = "end.json"
"""The file that tells one of several load hosts that the share of another has broken a stop rule."""
LEASE = "lease"
"""The file that whoever watches a load on somebody else's database writes anew at every look."""
PLAN = "plan.json"
"""The file with the settings of the load, beside the files that the generator wrote."""
TAIL_BYTES = 65_536
"""The most that is read of a file while the load runs."""
_CONSOLE_LINES = 10


def folder_of(host: Host) -> PurePosixPath:
    """Return the folder of the load's files on its host."""
    return host.root / "load"


def renew_lease(host: Host) -> None:
    """Tell the load that somebody watches it."""
    host.write(folder_of(host) / LEASE, "")


def end_by_rule(host: Host, broken: BrokenRule) -> None:
    """Tell the load on that host that another's share has broken a stop rule."""
    host.write(folder_of(host) / END, broken.model_dump_json())


def parse_object(name: str, text: str) -> dict[str, Any]:
    """Return the JSON object in a file of the load; empty for no text. Raises LoadError where it holds none."""
    with suppress(ValueError, RecursionError):  # The latter for brackets nested too deeply
        content = json.loads(text) if text else {}
        if isinstance(content, dict):
            return content
    raise LoadError(f"the load's {name} is damaged", where="load generator", mend="run the cell again")


def last_lines(console: str) -> str:
    """Return the last lines of generators' output, to follow the reason of its failure; empty if it printed nothing."""
    lines = [shortened(line) for line in console.splitlines()[-_CONSOLE_LINES:]]
    return "".join(f"\n  {line}" for line in ["its console's last lines:", *lines]) if lines else ""


POPULATE, LOAD = "populate", "load"
CONSOLE = f"{LOAD}.console"
"""The file with what the timed run prints."""
_SCRIPT = "commands.sh"
RECORDS = (
    PLAN,
    _SCRIPT,
    f"{POPULATE}.console",
    *(f"{command}.{end}" for command in (POPULATE, LOAD) for end in ("begun", "times", "end", "end.part")),
)
"""The names of files that belong to the job, beside those that programs write."""
_BEYOND_S = 5
"""The time by which a timed run is longer than its judged part, s: on a busy host a program's last record ends seconds
late, or covers several seconds, and must not be in the judged time.
"""

# A subshell for each command, because `times` adds up all children of a shell; its last line has theirs. `mv` makes
# NAME.end appear as a whole, since it may be read at any moment.
_HEAD = r"""#!/bin/sh
# Runs each command once the one before it has succeeded. Of each it leaves NAME.begun, NAME.console and NAME.end.
run() {
  name=$1; shift
  began=$(date +%s)
  echo "$began" >"$name.begun"
  ("$@" >"$name.console" 2>&1; code=$?; times >"$name.times"; exit $code)
  code=$?
  { echo "exit $code"; echo "seconds $(($(date +%s) - began))"; tail -n 1 "$name.times"; } >"$name.end.part"
  mv "$name.end.part" "$name.end"
  [ $code -eq 0 ] || exit $code
}
"""

_CPU = re.compile(r"^(\d+)m([\d.]+)s (\d+)m([\d.]+)s$", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command of a load, with its purpose as name: `populate`, `load`."""

    name: str
    argv: Sequence[str]

    @property
    def console(self) -> str:
        """Return the name of the file with its output."""
        return f"{self.name}.console"


@dataclass(frozen=True)
class Ending:
    """The end of a command. `seconds`: its length in whole seconds; `cpu_s`: processor time, s, None if not known."""

    exit_code: int
    seconds: int
    cpu_s: float | None

    @classmethod
    def parse(cls, text: str) -> "Ending | None":
        """Parse the content of a file `NAME.end`; None where there is none yet."""
        words = dict(line.split(" ", 1) for line in text.splitlines() if line[:1].isalpha())
        if "exit" not in words:
            return None
        cpu = _CPU.search(text)
        cpu_s = (60 * float(cpu[1]) + float(cpu[2]) + 60 * float(cpu[3]) + float(cpu[4])) if cpu else None
        return cls(int(words["exit"]), int(words.get("seconds", 0)), cpu_s)

    @property
    def cpu_cores(self) -> float | None:
        """Return the mean number of busy cores."""
        return None if self.cpu_s is None else self.cpu_s / max(self.seconds, 1)


@dataclass(frozen=True)
class Load:
    """The commands in order, ending with the timed run; commands to run afterwards; input files, content by name."""

    commands: Sequence[Command]
    closing: Sequence[Command] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    secrets: CommandSecrets = field(default_factory=CommandSecrets)
    """What all of its commands are given to log in."""


def in_flight(spec: LoadSpec) -> int:
    """Return the greatest number of operations that may be in flight."""
    return spec.load_generator.threads * spec.load_generator.concurrency


@dataclass(frozen=True)
class Plan:
    """The settings that a load was started with. Lengths in seconds; `shares` of all operations, by operation.

    `program`, `progress` and `outputs`: of a definition's own commands, the program's name, the pattern of its rate on
    the console, and the names of its files with times. `is_leased`: whether the load ends once nobody watches it.
    """

    rate: int = 0
    duration_s: float = 0
    warmup_s: float = 0
    in_flight: int = 0
    rows: int = 0
    shares: Mapping[str, float] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    program: str = ""
    progress: str = ""
    outputs: tuple[str, ...] = ()
    is_leased: bool = False

    @classmethod
    def parse(cls, text: str) -> "Plan":
        """Parse the file's content and ignore other keys. An empty text is the plan of a load never started."""
        known = {setting.name for setting in fields(cls)}
        return cls(**{name: value for name, value in parse_object(PLAN, text).items() if name in known})


class ForeignGenerator(LoadGenerator):
    """All of a load generator but the methods that depend on the program."""

    @abstractmethod
    def _load(self, host: Host, request: LoadRequest) -> Load:
        """Return the commands for that host. Raises HostError, ArtefactError."""

    @abstractmethod
    def _plan(self, request: LoadRequest) -> dict[str, Any]:
        """Return the number of `rows` to populate, and the `shares` of the operations."""

    @abstractmethod
    def _running(self, host: Host, plan: Plan, command: str, console: str) -> LoadStatus:
        """Return the progress of a command, by the end of its console output or by what its host tells."""

    def _incomplete(self, host: Host, plan: Plan, console: str) -> str:
        """Explain how a run with exit code 0 is incomplete, by its console or files. Empty if it is complete."""
        return ""

    def _can_be_judged(self, plan: Plan, ending: Ending) -> bool:
        """Tell whether a timed run that ended with an exit code is judged by its files all the same."""
        return False

    def _stopped(self, host: Host) -> BrokenRule | None:
        """Return the stop rule that ended a complete load on that host; None where none did."""
        return None

    def start(self, host: Host, request: LoadRequest) -> None:
        folder, spec = folder_of(host), request.spec
        load = self._load(host, request)
        plan = {
            "rate": request.own_ops_s,
            "duration_s": spec.timing.duration.total_seconds(),
            "warmup_s": spec.timing.warmup.total_seconds(),
            "in_flight": in_flight(spec),
            "seed": request.seed,
            "commands": [command.name for command in load.commands],
            **self._plan(request),
        }
        own_files = {PLAN: json.dumps(plan), _SCRIPT: script([*load.commands, *load.closing])}
        for name, content in {**load.files, **own_files}.items():
            host.write(folder / name, content)
        argv, stdin = given(("/bin/sh", _SCRIPT), load.secrets)
        host.start(Job(id=request.job_id, argv=argv, expires=request.expires, cwd=folder, stdin=stdin))

    def status(self, host: Host, job_id: str) -> LoadStatus:
        plan, job = Plan.parse(tail(host, PLAN)), host.status(job_id)
        if job.state == "missing":
            return LoadStatus("failed", reason="the load was never started")
        names = {path.name for path in host.files(folder_of(host))}
        begun = [name for name in plan.commands if f"{name}.console" in names]
        name = (begun or [*plan.commands, LOAD][:1])[-1]  # the one that began last, or is to be the first
        console = tail(host, f"{name}.console")
        if job.state == "running":
            return self._running(host, plan, name, console)
        reason = self._fault(host, job, plan, name, console)
        if not reason:
            return LoadStatus("complete", "load", seconds_left=0.0, stopped=self._stopped(host))
        phase = self._running(host, plan, name, console).phase
        return LoadStatus("failed", phase, reason=f"{reason}{last_lines(console)}")

    def _fault(self, host: Host, job: JobStatus, plan: Plan, name: str, console: str) -> str:
        """Explain why a load that ended with the command `name` is incomplete; empty if it is complete."""
        ending = Ending.parse(tail(host, f"{name}.end"))
        if ending is None:
            return f"{name}: {self.name} was {'killed' if job.exit_code is None else 'ended before its time'}"
        if ending.exit_code != 0:  # what gave up under load may have come to write nothing
            is_judged = name == LOAD and self._can_be_judged(plan, ending)
            return "" if is_judged else f"{name}: {self.name} ended with exit code {ending.exit_code}"
        return f"{LOAD}: {self.name} was not started" if name != LOAD else self._incomplete(host, plan, console)

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        return host.files(folder_of(host))


def run_s(spec: LoadSpec) -> int:
    """Tell how long the program's timed run is to last, s: the definition's duration and some seconds beyond it."""
    return round(spec.timing.duration.total_seconds()) + _BEYOND_S


def phase_of(plan: Plan, command: str, elapsed_s: float) -> LoadStatus:
    """Return a running command as status without figures, by how long it has sent operations: 0 s while it connects."""
    note = "" if elapsed_s else "connecting"
    if command != LOAD:
        return LoadStatus("running", "populate", note=note)
    left = max(plan.duration_s - elapsed_s, 0.0)
    if not left:
        note = f"its judged time is over: the program ends within about {_BEYOND_S} s"
    return LoadStatus("running", "warm-up" if elapsed_s < plan.warmup_s else "load", seconds_left=left, note=note)


def tail(host: Host, name: str) -> str:
    """Return the end of a file of the load; empty where there is none."""
    return host.read_tail(folder_of(host) / name, max_bytes=TAIL_BYTES)


def script(commands: Sequence[Command]) -> str:
    """Return the text of the script. Every word of a command is quoted."""
    return _HEAD + "".join(f"run {command.name} {shlex.join(command.argv)}\n" for command in commands)
