"""How long the tests took, of the last run of `make test`: `python -m tests.support.suite.durations`.

It notes the seconds of each group, by which the next run begins the longest first, and writes the table of the ten
slowest into docs/performance.md. Reports in JUnit's format may be named, of runs of parts: what they don't tell stays
as it was.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from tests.support.suite.groups import CHECKOUT, MEASURED, group_of, measured

LAST_RUN = CHECKOUT / ".pytest_cache" / "last-run.xml"
PERFORMANCE = CHECKOUT / "docs" / "performance.md"
SLOWEST = 10
BEGIN, END = "<!-- slowest tests -->", "<!-- end of slowest tests -->"
LEAST_S = 1.0
"""Shorter groups are begun last in any order."""


class Took(NamedTuple):
    """A test, and its seconds with its fixtures."""

    nodeid: str
    seconds: float


def main() -> None:
    """Note the durations of the last run, or of the reports that are named."""
    reports = [Path(name) for name in sys.argv[1:]] or [LAST_RUN]
    if missing := [report for report in reports if not report.is_file()]:
        sys.exit(f"{missing[0]} is not there: run `make test` first")
    took = [one for report in reports for one in read(report)]
    known = {**measured(), **by_group(took)} if sys.argv[1:] else by_group(took)
    MEASURED.write_text(json.dumps(longest_first(known), indent=1) + "\n")
    text = PERFORMANCE.read_text()
    PERFORMANCE.write_text(with_table(text, table(took)))


def read(report: Path) -> Iterator[Took]:
    """What a report in JUnit's format says of each test. A class is the test's file, with dots.

    The test at which a run was interrupted has none, and no time worth noting.
    """
    for case in ElementTree.parse(report).iterfind(".//testcase[@classname]"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        yield Took(f"{file}::{case.attrib['name']}", float(case.attrib["time"]))


def by_group(took: list[Took]) -> Mapping[str, float]:
    """Seconds of each group, but of the shortest."""
    seconds = defaultdict[str, float](float)
    for one in took:
        seconds[group_of(one.nodeid)] += one.seconds
    return {group: round(total) for group, total in seconds.items() if total >= LEAST_S}


def longest_first(seconds: Mapping[str, float]) -> Mapping[str, float]:
    """The same groups, sorted."""
    return dict(sorted(seconds.items(), key=lambda group: group[1], reverse=True))


def table(took: list[Took]) -> str:
    """The slowest in Markdown."""
    rows = sorted(took, key=lambda one: one.seconds, reverse=True)[:SLOWEST]
    lines = [f"| `{one.nodeid.removeprefix('tests/')}` | {one.seconds:.0f} |" for one in rows]
    return "\n".join(["| test, with the fixtures that it is the first to ask for | s |", "|---|---|", *lines])


def with_table(text: str, table: str) -> str:
    """The document with that table between its two marks."""
    marked = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    assert marked.search(text), f"no {BEGIN} in the document"
    return marked.sub(lambda _: f"{BEGIN}\n{table}\n{END}", text)


if __name__ == "__main__":
    main()
