"""Groups of tests that run in the same process, and the order in which groups begin.

Tests of a file share its fixtures, and tests of a folder with an `__init__.py` share the folder's fixtures, so that no
two processes start the same Airflow or cluster. Such a folder inside another one is a group of its own.
"""

from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

CHECKOUT = Path(__file__).resolve().parents[3]
_SLOWEST_FIRST = ("system", "integration", "airflow", "unit")
"""The folders below `tests`."""


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives the tests of a group to one process, in the order of the tests."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """Return the group of a test: the innermost folder with an `__init__.py` that contains its file, or else
    the file.
    """
    return _group_of_file(nodeid.partition("::")[0])


@cache
def _group_of_file(file: str) -> str:
    folders = (folder for folder in Path(file).parents if (CHECKOUT / folder / "__init__.py").is_file())
    return str(next(folders, file))


def place(nodeid: str) -> tuple[Any, ...]:
    """Return the place of a test in the order: whole folders take longest, then system tests; unit tests are the
    shortest.
    """
    group = group_of(nodeid)
    kind = Path(group).parts[1:2]
    return group.endswith(".py"), _SLOWEST_FIRST.index(kind[0]) if kind and kind[0] in _SLOWEST_FIRST else 0, group
