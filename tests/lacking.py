"""Tests of what a machine may lack: left out there, but never where all tests are asked for (PLIMSOLL_TEST_ALL)."""

import os

import pytest

ALL = bool(os.environ.get("PLIMSOLL_TEST_ALL"))


def leave_out(reason: str) -> None:
    """Skip the test that asks, or fail it where nothing may be left out."""
    (pytest.fail if ALL else pytest.skip)(reason)


def needs(there: bool, reason: str) -> pytest.MarkDecorator:
    """A mark for tests that want something; where nothing may be left out they run, and fail without it."""
    return pytest.mark.skipif(not there and not ALL, reason=reason)
