"""How long the tests of the last run of `make test` took: `python -m tests.support.suite.durations`.

It records the seconds of each group, so that the next run begins with the longest groups, and writes the table of the
ten slowest tests into docs/contributing/tests.md. Its arguments may be reports in JUnit's format of parts of the suite;
groups that these do not contain keep their seconds.
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
PAGE = CHECKOUT / "docs" / "contributing" / "tests.md"
SLOWEST = 10
BEGIN, END = "<!-- slowest tests -->", "<!-- end of slowest tests -->"
LEAST_S = 1.0
"""Groups that take less than this many seconds begin last, in any order."""


class Took(NamedTuple):
    """A test, and the seconds that it took with its fixtures."""

    nodeid: str
    seconds: float


def main() -> None:
    """Record the durations of the last run, or of the named reports."""
    reports = [Path(name) for name in sys.argv[1:]] or [LAST_RUN]
    if missing := [report for report in reports if not report.is_file()]:
        sys.exit(f"{missing[0]} is not there: run `make test` first")
    took = [one for report in reports for one in read(report)]
    known = {**measured(), **by_group(took)} if sys.argv[1:] else by_group(took)
    MEASURED.write_text(json.dumps(longest_first(known), indent=1) + "\n")
    PAGE.write_text(with_table(PAGE.read_text(), table(took)))


def read(report: Path) -> Iterator[Took]:
    """The duration of each test in a report in JUnit's format. A class in it is the test's file, with dots.

    The test at which a run was interrupted has no class, and is left out.
    """
    for case in ElementTree.parse(report).iterfind(".//testcase[@classname]"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        yield Took(f"{file}::{case.attrib['name']}", float(case.attrib["time"]))


def by_group(took: list[Took]) -> Mapping[str, float]:
    """The seconds of each group, without the shortest groups."""
    seconds = defaultdict[str, float](float)
    for one in took:
        seconds[group_of(one.nodeid)] += one.seconds
    return {group: round(total) for group, total in seconds.items() if total >= LEAST_S}


def longest_first(seconds: Mapping[str, float]) -> Mapping[str, float]:
    """The groups, sorted by their seconds, the longest first."""
    return dict(sorted(seconds.items(), key=lambda group: group[1], reverse=True))


def table(took: list[Took]) -> str:
    """The table of the slowest tests in Markdown."""
    rows = sorted(took, key=lambda one: one.seconds, reverse=True)[:SLOWEST]
    lines = [f"| `{one.nodeid.removeprefix('tests/')}` | {one.seconds:.0f} |" for one in rows]
    return "\n".join(["| test, with the fixtures that it is the first to ask for | s |", "|---|---|", *lines])


def with_table(text: str, table: str) -> str:
    """The document, with this table between its two marks."""
    marked = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    assert marked.search(text), f"no {BEGIN} in the document"
    return marked.sub(lambda _: f"{BEGIN}\n{table}\n{END}", text)


if __name__ == "__main__":
    main()
