"""What each test and each folder costs in CPU seconds: `.pytest_cache/cpu-seconds.tsv` has those of the newest run.

A test's cost is what its process, and all that this has started, used since the end of the test before. That includes
what an Airflow uses that an earlier test has started. Nothing is told where processes may have no control groups.
"""

from collections import defaultdict
from collections.abc import Generator, Mapping
from operator import itemgetter
from pathlib import Path
from time import process_time

import pytest
from tests.support.suite.control_group import Meter, join_new

_COST = "CPU seconds"
_START = "(imports and collection)"
_FILE = Path(".pytest_cache", "cpu-seconds.tsv")
_SHOWN = 5.0
"""What a folder must cost to be shown."""


def register(config: pytest.Config) -> None:
    """Measure in processes that run tests, and tell in the one that reports."""
    is_worker = hasattr(config, "workerinput")
    if is_worker or not config.getoption("numprocesses", None):
        config.pluginmanager.register(_Measuring())
    if not is_worker:
        config.pluginmanager.register(_Telling(config.rootpath / _FILE))


class _Measuring:
    """Adds what a test has used to its report. The first one of a process has what the process used before it, too."""

    _meter: Meter | None = None
    _start_s: float | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if self._start_s is None:
            self._start_s, self._meter = process_time(), join_new()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            if self._meter:
                item.user_properties += [(_START, self._start_s), (_COST, self._meter.new_s())]
                self._start_s = 0.0


class _Telling:
    """Collects the costs, writes them all to the file, and shows those of folders."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._costs: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            costs = dict(report.user_properties)
            self._costs[report.nodeid] += costs.get(_COST, 0.0)
            self._costs[_START] += costs.get(_START, 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        folders = by_folder(self._costs)
        if total := sum(folders.values()):
            self._file.parent.mkdir(exist_ok=True)
            self._file.write_text(_table(self._costs), encoding="utf-8")
            terminalreporter.section(f"{_COST}: {total:.0f} ({_FILE} has each test's)")
            terminalreporter.write(_table({folder: cost for folder, cost in folders.items() if cost >= _SHOWN}))


def by_folder(costs: Mapping[str, float]) -> Mapping[str, float]:
    """Add up what the tests of each folder cost."""
    folders: defaultdict[str, float] = defaultdict(float)
    for test, cost in costs.items():
        folders[test.partition("::")[0].rpartition("/")[0] or test] += cost
    return folders


def _table(costs: Mapping[str, float]) -> str:
    """Return a line for each, the most expensive first."""
    return "".join(f"{cost:8.2f}\t{name}\n" for name, cost in sorted(costs.items(), key=itemgetter(1), reverse=True))
