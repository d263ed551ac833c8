"""The order in which groups of tests begin."""

from tests.support.suite.groups import group_of, place


def test_a_group_is_a_file_or_the_innermost_package() -> None:
    assert group_of("tests/unit/domain/test_units.py::test_a[b::c]") == "tests/unit/domain/test_units.py"
    assert group_of("tests/system/team/test_celery.py::test_a") == "tests/system/team"
    assert group_of("tests/integration/stress/test_keys.py::test_a") == "tests/integration/stress"
    assert group_of("tests/integration/stress/timed/test_stalls.py::test_a") == "tests/integration/stress/timed"


def test_packages_begin_then_the_slowest_kinds_and_a_group_stays_together() -> None:
    order = [
        "tests/system/team/test_celery.py::1",
        "tests/system/team/test_celery.py::2",
        "tests/integration/stress/test_keys.py::1",
        "tests/system/test_campaign.py::1",
        "tests/integration/ec2/test_lag.py::1",
        "tests/unit/domain/test_units.py::1",
    ]
    mixed = [order[number] for number in (5, 0, 3, 2, 1, 4)]
    assert sorted(mixed, key=place) == order
