"""What is used of Airflow beyond its public interface is in few places, each tried on the Airflow that is installed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
BINDING = CHECKOUT / "plugins" / "plimsoll_airflow"
INTERNALS = (
    BINDING / "internals.py",
    BINDING / "web" / "internals.py",
    BINDING / "local" / "internals" / "__init__.py",
)
PUBLIC = (
    "airflow.sdk",
    "airflow.providers",
    "airflow.plugins_manager",
    "airflow.listeners",
    "airflow.triggers.base",
    "airflow.utils.state",
    "airflow.configuration",
)
"""https://airflow.apache.org/docs/apache-airflow/stable/public-airflow-interface.html"""


def imported(source: str) -> Iterator[str]:
    """Every module that the source imports something from, wherever it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def internal(source: str) -> set[str]:
    """Modules of Airflow among them that are not part of its public interface, and the way to its database."""
    found = {module for module in imported(source) if module.split(".")[0] in ("airflow", "sqlalchemy")}
    return {module for module in found if not any(f"{module}.".startswith(f"{public}.") for public in PUBLIC)}


def is_behind(path: Path) -> bool:
    """Whether it is one of the places, or in the local stack's package of them."""
    return path in INTERNALS or path.is_relative_to(BINDING / "local" / "internals")


def test_all_internals_of_airflow_are_behind_one_place_each() -> None:
    sources = [*(CHECKOUT / "plugins").rglob("*.py"), *(CHECKOUT / "dags").glob("*.py")]
    assert len(sources) > 50
    found = {path: internal(path.read_text(encoding="utf-8")) for path in sources if not is_behind(path)}
    assert {str(path): modules for path, modules in found.items() if modules} == {}


@pytest.mark.parametrize("place", INTERNALS, ids=lambda path: str(path.relative_to(BINDING)))
def test_each_says_that_it_was_tried_on_the_locked_airflow(place: Path) -> None:
    locked = re.search(r"^apache-airflow==(\S+)", (CHECKOUT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    tried = re.search(r"^TRIED_ON = (.+)$", place.read_text(encoding="utf-8"), re.MULTILINE)
    assert locked
    assert tried
    assert locked[1] in ast.literal_eval(tried[1])


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from airflow.sdk import DAG", set()),
        ("from airflow.sdkx import DAG", {"airflow.sdkx"}),
        ("def f():\n    from airflow.models import DagRun", {"airflow.models"}),
        ("import airflow.utils.session as s", {"airflow.utils.session"}),
        ("from sqlalchemy import select", {"sqlalchemy"}),
    ],
)
def test_an_internal_is_found_wherever_it_is_imported(source: str, found: set[str]) -> None:
    assert internal(source) == found
