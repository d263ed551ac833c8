"""The shell script that runs several commands one after another as one job, and the records that it leaves. Pure."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

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
    """The end of a command.

    `seconds`: its duration in whole seconds; `cpu_s`: its processor time, s, None if not known.
    """

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


def script(commands: Sequence[Command]) -> str:
    """Return the text of the script. Every word of a command is quoted."""
    return _HEAD + "".join(f"run {command.name} {shlex.join(command.argv)}\n" for command in commands)
