"""Fixtures for tests of more than one folder."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.airflow_stack import StackUnderTest


def pytest_configure() -> None:
    """Let Ctrl-C mean something again: who starts tests in the background may have it ignored, by all processes."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def airflow_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., "StackUnderTest"]]:
    """A factory of real Airflows, with the arguments of `tests.airflow_stack.running_stack` but the folder.

    Each lives until the module's tests are over.
    """
    from tests.airflow_stack import running_stack

    with ExitStack() as running:

        def start(**arguments: Any) -> "StackUnderTest":
            return running.enter_context(running_stack(tmp_path_factory.mktemp("stack"), **arguments))

        yield start
