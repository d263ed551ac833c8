"""Which tests stay together in one process, and in which order groups are begun.

Tests of a file share its fixtures, and tests of a folder with an `__init__.py` share that folder's: no two processes
are to start the same Airflow or cluster. Such a folder within such a folder is a group of its own. The longest groups
begin first, as they were measured last. Groups of nothing but tests that want the processors to themselves come at the
end, where nobody waits for them.
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
"""Seconds by group, written by `python -m tests.support.suite.durations`."""
USUAL_S = {"system": 200.0, "integration": 20.0, "airflow": 10.0}
"""What a group is taken for that nobody has measured, by the folder below `tests`."""

_KNOWN = 2
"""The test that a process is at, and the one after it: it ends the fixtures that the latter does not need."""


class Groups:
    """A plugin of pytest and of pytest-xdist."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Sort by group. Within a group quiet tests come last, and else the order stays."""
        known = measured()
        loud = {group_of(item.nodeid) for item in items if not is_quiet(item)}

        def begin(item: pytest.Item) -> tuple[bool, float, str, bool]:
            group = group_of(item.nodeid)
            return group not in loud, -known.get(group, usual(group)), group, is_quiet(item)

        items.sort(key=begin)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Groups in the order of the tests, where `--dist loadscope` is asked for."""
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
    """The innermost folder with an `__init__.py` that the test's file lies in, else the file."""
    return _group_of_file(nodeid.partition("::")[0])


@cache
def _group_of_file(file: str) -> str:
    folders = (folder for folder in Path(file).parents if (CHECKOUT / folder / "__init__.py").is_file())
    return str(next(folders, file))


def usual(group: str) -> float:
    """Seconds that a group of its kind takes."""
    return next((seconds for kind, seconds in USUAL_S.items() if group.startswith(f"tests/{kind}/")), 0.0)


def measured() -> Mapping[str, float]:
    """Seconds by group; nothing where nobody has measured yet."""
    return json.loads(MEASURED.read_text()) if MEASURED.is_file() else {}
