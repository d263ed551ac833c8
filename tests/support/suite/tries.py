"""Tries of real measurements: how many each gets, and which tests needed more than one.

The number of tries of each test that measures is a property in the report in JUnit's format. The end of a run names the
tests that needed more than one.
"""

from collections.abc import Generator, Iterator

import pytest

MOST = 3
PROPERTY = "tries"

_running: list[pytest.Item] = []
"""The test that runs in this process, if any."""


def tries() -> Iterator[int]:
    """The numbers of the tries, from 1. The caller breaks off after the one that counts.

    It is for measurements that a standstill of the machine may spoil. CONTRIBUTING.md says when another try may follow.
    """
    for number in range(1, MOST + 1):
        for item in _running:
            others = [(name, value) for name, value in item.user_properties if name != PROPERTY]
            item.user_properties[:] = [*others, (PROPERTY, max(number, noted(item.user_properties)))]
        yield number


def noted(properties: list[tuple[str, object]]) -> int:
    """The number of tries among the properties of a test; 0 if it measures nothing."""
    return max((int(str(value)) for name, value in properties if name == PROPERTY), default=0)


class Tries:
    """A plugin of pytest."""

    def __init__(self) -> None:
        self._tried: dict[str, int] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Let the test and its fixtures note their tries."""
        _running.append(item)
        try:
            return (yield)
        finally:
            _running.remove(item)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take down the tries of a test, also of one that another process ran."""
        if number := noted(report.user_properties):
            self._tried[report.nodeid] = number

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the tests that needed more than one try."""
        again = {nodeid: number for nodeid, number in self._tried.items() if number > 1}
        if again:
            terminalreporter.section("tests that measured again")
        for nodeid, number in sorted(again.items()):
            terminalreporter.line(f"{number} tries: {nodeid}")
