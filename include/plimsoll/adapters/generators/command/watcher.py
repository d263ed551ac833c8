"""Runs the timed command of a load, reads what it prints, and ends it once that breaks a rule. Imports nothing of its
own, so that an isolated interpreter on a load host can run it as a script:

    watcher.py WATCH -- PROGRAM ARGUMENT…

The file WATCH, JSON, holds the `pattern` of a line with its named groups, the `console` that the program prints to,
the `rules`, the `signal` that ends the program, `duration_s`, and `lease`: the file that whoever watches the load
writes anew at every look, or none, and `lease_s`: for how long it need not. `end` is the file that tells of a rule that
the share of another load host has broken, or none. The newest figures stand in `watch.json` in its folder, a broken
rule in `stopped.json`. The exit code is the program's; 0 if a rule ended it, and 143 if nobody watched it any more.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FIGURES, STOPPED = "watch.json", "stopped.json"
RATE, ERRORS, ERRORS_S, LONGEST_S = "rate", "errors", "errors_s", "longest_s"
_PERCENTILE = re.compile(r"p(\d{1,2})(?:_(\d+))?_(s|ms|us)")
"""A group with a percentile of response times and its unit: `p99_ms`, `p99_9_us`."""
_IN_MS = {"s": 1000.0, "ms": 1.0, "us": 0.001}
_LONGEST_LINE = 2000
_MOST_BYTES = 1 << 20
_FIRST_LINE_S = 60.0
"""The time that a program has to connect, before its first line is due."""
_GRACE_S = 20.0
_LEFT = 143
_PAUSE_S = 0.5
_ROUNDING = 1e-6
"""More operations than sums of rates may be off by: a share that is just the one allowed breaks no rule."""


class Report(NamedTuple):
    """A line that matches: when it was read, how long a time it is about (s), and its figures.

    `failed`: operations of that time; None where the line does not tell. `times_ms`: percentile → ms.
    """

    at_s: float
    seconds: float
    answered_ops_s: float
    failed: float | None
    times_ms: Mapping[float, float]


def figures_of(line: str, pattern: re.Pattern[str]) -> dict[str, float]:
    """Return the figures of a line by their groups' names. A number may have commas between its thousands.

    A rate that is no number, such as a dash where nothing was answered, counts as 0; other such figures are not known.
    """
    match = pattern.search(line[:_LONGEST_LINE])
    told = {name: text for name, text in match.groupdict().items() if text} if match else {}
    read = {name: _number(text) for name, text in told.items()}
    if RATE in read and not math.isfinite(read[RATE]):
        read[RATE] = 0.0
    return {name: number for name, number in read.items() if not math.isnan(number)}


def together(before: Mapping[str, float], figures: Mapping[str, float]) -> dict[str, float]:
    """Return the figures of two lines that tell of one time: of failures both, of others the higher ones."""
    both = {name: max(number, figures.get(name, number)) for name, number in before.items()}
    failed = {ERRORS: before.get(ERRORS, 0.0) + figures.get(ERRORS, 0.0)}
    return {**figures, **both, **(failed if ERRORS in {*before, *figures} else {})}


def report(figures: Mapping[str, float], at_s: float, seconds: float) -> Report:
    """Return the report of lines with these figures, one of which has a rate."""
    failed = figures.get(ERRORS, figures[ERRORS_S] * seconds if ERRORS_S in figures else None)
    named = ((percentile_of(name), figure) for name, figure in figures.items())
    times = {percentile[0]: figure * percentile[1] for percentile, figure in named if percentile}
    return Report(at_s, seconds, figures[RATE], failed, times)


def _number(text: str) -> float:
    """Return the number that a program printed; NaN for what is none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


def percentile_of(group: str) -> tuple[float, float] | None:
    """Return the percentile of a group's name and its unit in ms: 99.9 and 0.001 of `p99_9_us`; None of another one."""
    match = _PERCENTILE.fullmatch(group)
    return (float(f"{match[1]}.{match[2] or 0}"), _IN_MS[match[3]]) if match else None


def broken(rule: Mapping[str, Any], reports: Sequence[Report]) -> str:
    """Explain how the newest lines that are about at least `within_s` break the rule; empty if they do not.

    A percentile of several lines can't be computed from theirs: the rule is broken once it is above in each of them.
    """
    last = _newest(reports, rule["within_s"])
    if not last:
        return ""
    seconds = sum(line.seconds for line in last)
    if _is_silent(last):
        return f"nothing was answered for {seconds:.0f} s"
    if rule["percentile"] is None:
        failed = sum(line.failed or 0 for line in last)
        due = failed + sum(line.answered_ops_s * line.seconds for line in last)
        if failed <= rule["share"] / 100 * due + _ROUNDING:
            return ""
        return f"{100 * failed / due:.3g} % of the operations of {seconds:.0f} s failed"
    # A line of a time in which nothing was answered may tell a percentile of 0, or none.
    times = [line.times_ms.get(rule["percentile"]) if line.answered_ops_s else math.inf for line in last]
    above = [time_ms for time_ms in times if time_ms is not None and time_ms > rule["above_ms"]]
    if len(above) < len(times):
        return ""
    return f"p{rule['percentile']:g} was {min(above):.4g} ms or more for {seconds:.0f} s"


def _is_silent(lines: Sequence[Report]) -> bool:
    return bool(lines) and all(line.answered_ops_s == 0 for line in lines)


def _newest(reports: Sequence[Report], within_s: float) -> Sequence[Report]:
    """Return the newest reports that together are about so long; none where all are about less."""
    newest, covered = list[Report](), 0.0
    for line in reversed(reports):
        newest.append(line)
        covered += line.seconds
        if covered >= within_s:
            return newest
    return ()


def silent(rules: Sequence[Mapping[str, Any]], reports: Sequence[Report], elapsed_s: float) -> tuple[int, str] | None:
    """Return the number of a rule that the program's silence breaks, and how; None while the next line may still come.

    As long as its longest line is about, the program need not print.
    """
    quiet_s = elapsed_s - (reports[-1].at_s if reports else 0.0)
    if all(quiet_s <= rule["within_s"] for rule in rules):  # as at most looks, which need not go through all lines
        return None
    usual_s = max(reports[0].at_s, *(line.seconds for line in reports)) if reports else _FIRST_LINE_S
    for number, rule in enumerate(rules):
        if quiet_s > rule["within_s"] + usual_s:
            return number, f"the program has printed nothing that tells of operations for {quiet_s:.0f} s"
    return None


class Watch:
    """The lines of a console so far, and whether they break a rule."""

    def __init__(self, settings: Mapping[str, Any], folder: Path) -> None:
        self._rules: Sequence[Mapping[str, Any]] = settings["rules"]
        self._pattern = re.compile(settings["pattern"]) if settings["pattern"] else None
        self._console = folder / settings["console"]
        self._lease = folder / settings["lease"] if settings["lease"] else None
        self._end = folder / settings["end"] if settings["end"] else None
        self._lease_s = float(settings["lease_s"])
        self._renewed, self._renewed_at = 0, time.monotonic()
        self._duration_s, self._folder = float(settings["duration_s"]), folder
        self._offset, self._rest, self._reports = 0, "", list[Report]()
        self._told: dict[str, float] = {}

    def look(self, elapsed_s: float) -> tuple[int, str] | None:
        """Read what was printed since the last look. Returns the number of a rule that is broken now, and how."""
        if self._pattern is None:
            return None
        known = len(self._reports)
        for line in self._lines():
            last_s = self._reports[-1].at_s if self._reports else 0.0
            self._told = together(self._told, figures_of(line, self._pattern))
            if RATE not in self._told:  # a pattern may have alternatives, whose lines belong to the next rate
                continue
            # A first line of nothing may be about the time of connecting, as pgbench's is
            is_counted = bool(self._reports) or any(self._told.get(name) for name in (RATE, ERRORS, ERRORS_S))
            # Several lines may be found at one look, and would be about no time at all
            seconds = max(elapsed_s - last_s if is_counted else 0.0, _PAUSE_S)
            self._reports.append(report(self._told, elapsed_s, seconds))
            self._told = {}
            if breach := self._broken():
                return breach
        if len(self._reports) > known:
            # The first line comes once the program has connected
            longest_s = max((line.seconds for line in self._reports[1:]), default=0.0)
            _write(self._folder / FIGURES, {RATE: self._reports[-1].answered_ops_s, LONGEST_S: longest_s})
        return silent(self._rules, self._reports, elapsed_s) if elapsed_s < self._duration_s else None

    def elsewhere(self) -> dict[str, Any] | None:
        """Return the rule that the share of another load host has broken; None where nobody has told of one."""
        if self._end is None or not self._end.exists():
            return None
        told: dict[str, Any] = json.loads(self._end.read_text(encoding="utf-8"))
        return told

    def is_silent(self, rule: int) -> bool:
        """Tell whether the program's lines say that nothing was answered in all of that rule's time."""
        return _is_silent(_newest(self._reports, self._rules[rule]["within_s"]))

    def is_left(self) -> bool:
        """Tell whether the load has a lease that nobody has renewed in time.

        By this process's own clock, which stands still with the machine: its watcher then has the time it had before.
        """
        if self._lease is None:
            return False
        renewed = self._lease.stat().st_mtime_ns
        if renewed != self._renewed:
            self._renewed, self._renewed_at = renewed, time.monotonic()
        return time.monotonic() - self._renewed_at > self._lease_s

    def _broken(self) -> tuple[int, str] | None:
        breaches = ((number, broken(rule, self._reports)) for number, rule in enumerate(self._rules))
        return next(((number, why) for number, why in breaches if why), None)

    def _lines(self) -> Iterator[str]:
        with self._console.open("rb") as console:
            console.seek(self._offset)
            block = console.read(_MOST_BYTES)
        self._offset += len(block)
        *lines, self._rest = re.split(r"[\r\n]", self._rest + block.decode(errors="replace"))
        self._rest = self._rest[-_LONGEST_LINE:]  # A line without an end must not fill the memory
        yield from lines


def run(settings: Mapping[str, Any], folder: Path, argv: Sequence[str]) -> int:
    """Run the program to its end, or until a rule is broken. Returns the exit code as a shell gives it."""
    # In a group of its own, so that one signal ends all of its processes. What is sent to this process is passed on.
    program = subprocess.Popen(argv, start_new_session=True)
    for caught in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(caught, lambda received, _: _signal(program, received))
    try:
        return _watched(program, settings, folder)
    finally:
        # What can't be watched any more must not go on.
        if program.poll() is None:
            _signal(program, signal.SIGKILL)


def _watched(program: subprocess.Popen[bytes], settings: Mapping[str, Any], folder: Path) -> int:
    watch, began_s = Watch(settings, folder), time.monotonic()
    while (code := _ended(program)) is None:
        breach = watch.look(elapsed_s := time.monotonic() - began_s)
        own = breach and {"rule": breach[0], "why": breach[1], "silent": watch.is_silent(breach[0])}
        if stopped := own or watch.elsewhere():
            _write(folder / STOPPED, {**stopped, "seconds": elapsed_s})
            _end(program, getattr(signal, f"SIG{settings['signal']}"))
            return 0
        if watch.is_left():
            _end(program, getattr(signal, f"SIG{settings['signal']}"))
            print(f"nobody has watched this load for {settings['lease_s']} s, so it was ended", flush=True)
            return _LEFT
    return code if code >= 0 else 128 - code


def _ended(program: subprocess.Popen[bytes]) -> int | None:
    try:
        return program.wait(_PAUSE_S)
    except subprocess.TimeoutExpired:
        return None


def _end(program: subprocess.Popen[bytes], number: int) -> None:
    _signal(program, number)
    try:
        program.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        _signal(program, signal.SIGKILL)
        program.wait()


def _signal(program: subprocess.Popen[bytes], number: int) -> None:
    # The program may have ended between the last look and the signal
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, number)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(json.dumps(content), encoding="utf-8")
    unfinished.replace(path)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    sys.exit(run(json.loads(file.read_text(encoding="utf-8")), file.parent, sys.argv[3:]))
