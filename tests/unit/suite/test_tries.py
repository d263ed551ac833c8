"""A test that measures again leaves a trace at the end of the run."""

import warnings

from tests.support.suite.tries import tries


def test_further_tries_are_told_and_are_no_errors() -> None:
    with warnings.catch_warnings(record=True) as told:
        assert list(tries()) == [1, 2, 3]
    assert [str(one.message) for one in told] == ["measured again: try 2", "measured again: try 3"]
