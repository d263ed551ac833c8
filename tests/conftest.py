"""Fixtures for tests of more than one folder."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.suite.garbage import Garbage
from tests.support.suite.groups import Groups
from tests.support.suite.leftovers import LEFTOVERS, Leftovers
from tests.support.suite.package_fixtures import NothingOutlivesItsFolder
from tests.support.suite.proven import Proven
from tests.support.suite.quiet import Quiet
from tests.support.suite.signals import interrupt_in_order
from tests.support.suite.tries import Tries

if TYPE_CHECKING:
    from tests.support.airflow.stack import StackUnderTest


def pytest_configure(config: pytest.Config) -> None:
    """Add what the suite asks of pytest. A hook in this file is not asked about what belongs to the session."""
    for plugin in (NothingOutlivesItsFolder(), Garbage(), Groups(), Quiet(), Proven(), Tries()):
        config.pluginmanager.register(plugin)
    config.pluginmanager.register(Leftovers(), LEFTOVERS)
    interrupt_in_order(is_worker=hasattr(config, "workerinput"))


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytestconfig.pluginmanager.get_plugin(LEFTOVERS).watch(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def airflow_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., "StackUnderTest"]]:
    """A factory of real Airflows, with the arguments of `tests.support.airflow.stack.running_stack` but the folder.

    Each lives until the module's tests are over.
    """
    from tests.support.airflow.stack import running_stack

    with ExitStack() as running:

        def start(**arguments: Any) -> "StackUnderTest":
            return running.enter_context(running_stack(tmp_path_factory.mktemp("stack"), **arguments))

        yield start
