"""The row that `make test-all` writes of itself."""

from collections import Counter
from datetime import date, timedelta

import pytest
from tests.support.suite.whole_run import PAGE, counted, result, rewritten

OUTPUT = """\
tests/unit/test_places.py::test_nothing 5 passed
=========== 15 failed, 8078 passed, 74 skipped in 2174.07s (0:36:14) ===========
================= 28 passed, 2 warnings, 1 error in 95.30s (0:01:35) ==================
12 passed, 1 skipped in 3.41s
Airflow 3.1.8: 3 passed in all
"""


def test_what_runs_of_pytest_count_is_added_up() -> None:
    found = counted(OUTPUT.splitlines(keepends=True))
    assert found == {"failed": 15, "passed": 8078 + 28 + 12, "skipped": 75, "warning": 2, "error": 1}


@pytest.mark.parametrize(("failed", "names"), [((), "none"), (("test-airflows", "x"), "`test-airflows`, `x`")])
def test_a_row_says_of_what_when_how_long_and_how_it_ended(failed: tuple[str, ...], names: str) -> None:
    took, counts = timedelta(hours=3, minutes=2, seconds=7), Counter(passed=8118, failed=1)
    row = result("47d95cca", date(2026, 11, 3), took, counts, failed)
    assert row == f"| `47d95cca` | 3 November 2026 | 3:02:07 | 8,118 | 1 | 0 | 0 | {names} |\n"


def test_the_page_has_a_place_for_it_which_it_takes_alone() -> None:
    page = PAGE.read_text(encoding="utf-8")
    first, second = (rewritten(page, f"| {word} |\n") for word in ("first", "second"))
    assert "| first |" in first
    assert rewritten(first, "| second |\n") == second
    assert second.endswith(page.rpartition("<!-- end -->")[2])


def test_a_page_without_a_place_is_told() -> None:
    with pytest.raises(ValueError, match="has no lines between"):
        rewritten("# Tests\n", "| row |\n")
