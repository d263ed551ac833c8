"""Fixtures for tests of more than one folder."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.suite.groups import Groups
from tests.support.suite.proven import Proven
from tests.support.suite.quiet import Quiet

if TYPE_CHECKING:
    from tests.support.airflow.stack import StackUnderTest


class NothingOutlivesItsFolder:
    """Refuses fixtures that a folder's tests are to share and that live on: their processes disturb all others."""

    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
        """Pytest takes only a folder with an `__init__.py` for a package; else a package's fixture is the session's."""
        if fixturedef.scope == "package" and isinstance(request.node, pytest.Session):
            pytest.fail(f"the fixture {fixturedef.argname} is a package's, but {fixturedef.baseid} has no __init__.py")


def pytest_configure(config: pytest.Config) -> None:
    """Let an end from outside undo what fixtures did; who starts tests in the background may have Ctrl-C ignored."""
    # A hook in this file is not asked about what belongs to the session.
    for plugin in (NothingOutlivesItsFolder(), Groups(), Quiet(), Proven()):
        config.pluginmanager.register(plugin)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)


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
