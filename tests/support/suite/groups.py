"""Groups of tests that run in the same process, and the order in which groups begin.

Tests of a file share its fixtures, and tests of a folder with an `__init__.py` share the folder's fixtures, so that no
two processes start the same Airflow or cluster. Such a folder inside another one is a group of its own. Groups that
took longest in the last measured run begin first. Groups that have only tests which need the processors for themselves
come last, where no other test waits for them.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.support.suite.quiet import is_quiet

CHECKOUT = Path(__file__).resolve().parents[3]
MEASURED = CHECKOUT / "tests" / "durations.json"
"""The file of seconds by group, written by `python -m tests.support.suite.durations`."""
USUAL_S = {"system": 200.0, "integration": 20.0, "airflow": 10.0}
"""The assumed seconds of a group that was not measured, by the folder below `tests`."""

_KNOWN = 2
"""A process must know its current test and the next one, to end fixtures that the next one does not need."""


class Groups:
    """A plugin of pytest and of pytest-xdist."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Sort the tests by group. In a group quiet tests come last; otherwise the order is unchanged."""
        known = measured()
        loud = {group_of(item.nodeid) for item in items if not is_quiet(item)}

        def begin(item: pytest.Item) -> tuple[bool, float, str, bool]:
            group = group_of(item.nodeid)
            return group not in loud, -known.get(group, usual(group)), group, is_quiet(item)

        items.sort(key=begin)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """A scheduler that keeps groups in the order of the tests, if `--dist loadscope` was given."""
        if config.getoption("dist") != "loadscope":
            return None
        from xdist.scheduler import LoadScopeScheduling

        class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
            def _split_scope(self, nodeid: str) -> str:
                return group_of(nodeid)

            def _reschedule(self, node: Any) -> None:
                """Give it another group no sooner than it must know which test comes after its last one.

                What a process has been given waits for what it is at, though another process may have nothing to do.
                """
                if not self.workqueue or self._pending_of(self.assigned_work[node]) < _KNOWN:
                    super()._reschedule(node)

        config.option.loadscopereorder = False
        return GroupScheduling(config, log)


def group_of(nodeid: str) -> str:
    """The group of a test: the innermost folder with an `__init__.py` that contains its file, or else the file."""
    return _group_of_file(nodeid.partition("::")[0])


@cache
def _group_of_file(file: str) -> str:
    folders = (folder for folder in Path(file).parents if (CHECKOUT / folder / "__init__.py").is_file())
    return str(next(folders, file))


def usual(group: str) -> float:
    """The assumed seconds of a group that was not measured."""
    return next((seconds for kind, seconds in USUAL_S.items() if group.startswith(f"tests/{kind}/")), 0.0)


def measured() -> Mapping[str, float]:
    """The measured seconds by group; empty where nothing was measured yet."""
    return json.loads(MEASURED.read_text()) if MEASURED.is_file() else {}
