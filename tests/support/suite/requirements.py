"""What a run of tests asks for: tests of everything (PLIMSOLL_TEST_ALL), and at full size (PLIMSOLL_TEST_LONG).

Tests of what a machine lacks are skipped there, and fail where all tests are asked for. A test of what a machine can't
simply be given, a program that is in no registry or another kernel, is always skipped there, with pytest's own means.
CONTRIBUTING.md names these.
"""

import os

import pytest

ALL = bool(os.environ.get("PLIMSOLL_TEST_ALL"))
IS_LONG = bool(os.environ.get("PLIMSOLL_TEST_LONG"))
"""Whether tests run at full size. docs/contributing/tests.md says what stands for these in `make test`."""


def long(instead: str) -> pytest.MarkDecorator:
    """Return a mark for tests that only `make test-all` runs. `instead`: what shows the same in `make test`."""
    return pytest.mark.skipif(not IS_LONG, reason=f"make test-all: {instead}")


def leave_out(reason: str) -> None:
    """Skip the test that asks, or fail it where nothing may be left out."""
    (pytest.fail if ALL else pytest.skip)(reason)


def require_namespaces() -> None:
    """Leave out the test that asks where this machine can't have the test cloud's hosts in namespaces."""
    from tests.cloud import namespaces  # who wants no such host need not import what makes them

    why_not = namespaces.obstacle()
    if why_not:
        leave_out(f"no hosts in namespaces here: {why_not}")


def needs(there: bool, reason: str) -> pytest.MarkDecorator:
    """Return a mark for tests that want something; where nothing may be left out they run, and fail without it."""
    return pytest.mark.skipif(not there and not ALL, reason=reason)
