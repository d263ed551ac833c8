from tests.support.suite.spent import by_folder


def test_costs_of_a_folder_are_those_of_the_tests_in_its_files_and_what_is_no_test_stands_alone() -> None:
    here = {"tests/unit/a/test_x.py::test[1/2]": 1.0, "tests/unit/a/test_y.py::test": 2.0}
    costs = {**here, "tests/unit/test_z.py::test": 4.0, "(start)": 8.0}
    assert by_folder(costs) == {"tests/unit/a": 3.0, "tests/unit": 4.0, "(start)": 8.0}
