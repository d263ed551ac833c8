"""Fixtures for tests of more than one folder."""

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.suite import spent
from tests.support.suite.groups import GroupScheduling, place
from tests.support.suite.leftovers import watched
from tests.support.suite.signals import interrupt_in_order

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from tests.support.airflow.stack import StackUnderTest


def pytest_configure(config: pytest.Config) -> None:
    """End fixtures in order after a signal, and look less often for unreachable objects: a seventh of CPU time."""
    interrupt_in_order(is_worker=hasattr(config, "workerinput"))
    spent.register(config)
    gc.set_threshold(20_000, *gc.get_threshold()[1:])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling | None:
    """Keep tests that share fixtures in one process, if `--dist loadscope` was given."""
    return GroupScheduling(config, log) if config.getoption("dist") == "loadscope" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the groups that take longest, so that no process works alone at the end."""
    items.sort(key=lambda item: place(item.nodeid))


def pytest_collection_finish() -> None:
    """Have Python leave alone what the test modules have imported: it lives as long as the process."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with watched(tmp_path_factory.getbasetemp()):
        yield


@pytest.fixture(scope="module", autouse=True)
def _checked_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Spare tests what Great Expectations takes for tables that it knows, but where these checks are what is tested."""
    from tests.support.campaigns.checked_once import checked_once

    with nullcontext() if "quality" in request.path.parts else checked_once():
        yield


@pytest.fixture(scope="module")
def undrawn_reports() -> Iterator[None]:
    """Spare tests the drawing of charts, which tests/unit/report looks at."""
    from tests.support.campaigns.undrawn import undrawn

    with undrawn():
        yield


@pytest.fixture(scope="module")
def airflow_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., "StackUnderTest"]]:
    """Provide a factory of real Airflows, with the arguments of `tests.support.airflow.stack.running_stack` but the
    folder.

    Each lives until the module's tests are over.
    """
    from tests.support.airflow.stack import running_stack

    with ExitStack() as running:

        def start(**arguments: Any) -> "StackUnderTest":
            return running.enter_context(running_stack(tmp_path_factory.mktemp("stack"), **arguments))

        yield start


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Provide the system's Chromium."""
    from tests.support.browser.chromium import running_browser

    with running_browser() as browser:
        yield browser
