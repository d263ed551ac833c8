"""The account of how long tests took."""

from pathlib import Path

import pytest
from tests.support.suite.durations import BEGIN, END, Took, by_group, longest_first, read, table, with_table

_REPORT = """<testsuites><testsuite>
<testcase classname="tests.unit.suite.test_durations" name="test_a[1::2]" time="1.5"/>
<testcase classname="tests.system.team.test_celery" name="test_b" time="20"/>
<testcase time="3"/>
</testsuite></testsuites>"""


def test_a_report_of_junits_format_is_read(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(_REPORT)

    took = list(read(tmp_path / "report.xml"))

    assert took == [
        Took("tests/unit/suite/test_durations.py::test_a[1::2]", 1.5),
        Took("tests/system/team/test_celery.py::test_b", 20.0),
    ]


def test_groups_are_told_with_the_longest_first_and_without_the_shortest() -> None:
    took = [
        Took("tests/unit/test_a.py::a", 0.1),
        Took("tests/unit/test_b.py::a", 2),
        Took("tests/unit/test_c.py::b", 3),
    ]
    assert list(longest_first(by_group(took)).items()) == [("tests/unit/test_c.py", 3), ("tests/unit/test_b.py", 2)]


def test_tests_of_a_package_are_one_group() -> None:
    took = [Took(f"tests/system/team/{name}.py::test", 2) for name in ("test_celery", "test_schedule")]
    assert by_group(took) == {"tests/system/team": 4}


def test_the_table_takes_the_place_of_the_one_before() -> None:
    took = [Took(f"tests/test_{number}.py::test", number) for number in range(20)]

    text = with_table(f"before\n{BEGIN}\n| old |\n{END}\nafter", table(took))

    assert text.startswith(f"before\n{BEGIN}\n| test")
    assert text.endswith(f"{END}\nafter")
    assert "old" not in text
    assert text.count("::test`") == 10
    assert "| `test_19.py::test` | 19 |" in text


def test_a_document_without_a_place_for_it_is_an_error() -> None:
    with pytest.raises(AssertionError, match="slowest tests"):
        with_table("no marks", "table")
