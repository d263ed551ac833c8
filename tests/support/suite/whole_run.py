"""Run every command given, and write into docs/contributing/tests.md how they ended: `make test-all`."""

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
PAGE = CHECKOUT / "docs" / "contributing" / "tests.md"
_BEGIN, _END = "<!-- make test-all writes these lines -->\n", "<!-- end -->\n"
_SUMMARY = re.compile(r"^=* ?(?P<counts>(\d+ \w+, )*\d+ (passed|failed|skipped|errors?)(, \d+ \w+)*) in [\d.]+s")
"""Pytest's last line."""
_OUTCOMES = ("passed", "failed", "error", "skipped")


def main(commands: Sequence[str]) -> int:
    """Run all of them, also after one that failed. Returns 1 if one did."""
    commit = _commit()
    begun, counts, failed = time.monotonic(), Counter[str](), list[str]()
    for command in commands:
        lines = list[str]()
        with subprocess.Popen(command, shell=True, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                lines.append(line)
        counts += counted(lines)
        failed += [command.split()[-1]] if process.returncode else []
    took = timedelta(seconds=round(time.monotonic() - begun))
    row = result(commit, datetime.now(UTC).date(), took, counts, failed)
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), row), encoding="utf-8")
    print(row)
    return 1 if failed else 0


def counted(lines: Iterable[str]) -> Counter[str]:
    """Add up the tests that runs of pytest counted in their last lines, by outcome."""
    found = filter(None, map(_SUMMARY.match, lines))
    parts = (part.split() for summary in found for part in summary["counts"].split(", "))
    return sum((Counter({outcome.removesuffix("s"): int(number)}) for number, outcome in parts), Counter())


def result(commit: str, day: date, took: timedelta, counts: Counter[str], failed: Sequence[str]) -> str:
    """Return the table's row: of which commit, when, how long, how many tests, and which commands failed."""
    numbers = (f"{counts[outcome]:,}" for outcome in _OUTCOMES)
    names = ", ".join(f"`{name}`" for name in failed) or "none"
    return " | ".join((f"| `{commit}`", f"{day:%-d %B %Y}", str(took), *numbers, names)) + " |\n"


def rewritten(page: str, row: str) -> str:
    """Return the page with this row in place of the former one. ValueError if it has no place for it."""
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not end:
        raise ValueError(f"{PAGE} has no lines between {_BEGIN.strip()} and {_END.strip()}")
    heads = ("commit", "day", "time", *_OUTCOMES, "failed commands")
    return f"{before}{begin}\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|\n{row}\n{end}{after}"


def _commit() -> str:
    """Return the short name of the commit, and whether files differ from it."""
    git = ["git", "describe", "--always", "--abbrev=8", "--exclude=*", "--dirty=, changed"]
    return subprocess.run(git, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
