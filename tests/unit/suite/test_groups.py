"""The order in which groups of tests begin."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.suite import groups
from tests.support.suite.groups import Groups, group_of


@dataclass(frozen=True)
class Item:
    """What the plugin looks at."""

    nodeid: str
    quiet: bool = False

    def get_closest_marker(self, name: str) -> Any:
        assert name == "quiet"
        return SimpleNamespace() if self.quiet else None


def test_a_group_is_a_file_or_the_innermost_package() -> None:
    assert group_of("tests/unit/domain/test_units.py::test_a[b::c]") == "tests/unit/domain/test_units.py"
    assert group_of("tests/system/team/test_celery.py::test_a") == "tests/system/team"
    assert group_of("tests/integration/stress/test_keys.py::test_a") == "tests/integration/stress"
    assert group_of("tests/integration/stress/timed/test_stalls.py::test_a") == "tests/integration/stress/timed"


def test_the_longest_group_begins_and_groups_that_are_all_quiet_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "measured", lambda: {"b.py": 9.0, "quiet.py": 99.0, "mixed.py": 20.0})
    items = [
        Item("a.py::1"),
        Item("quiet.py::1", quiet=True),
        Item("mixed.py::1", quiet=True),
        Item("b.py::1"),
        Item("mixed.py::2"),
        Item("b.py::2"),
    ]

    Groups().pytest_collection_modifyitems(cast("list[pytest.Item]", items))

    order = ["mixed.py::2", "mixed.py::1", "b.py::1", "b.py::2", "a.py::1", "quiet.py::1"]
    assert [item.nodeid for item in items] == order
