"""What is used of Airflow beyond its public interface is in one package, read in the Airflow that is installed.

Import-linter can't check this: it sees Airflow as one package, public or not.
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import airflow.sdk
import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
BINDING = CHECKOUT / "plugins" / "plimsoll_airflow"
INTERNALS = BINDING / "internals"
PUBLIC = (
    "airflow.sdk.exceptions",
    "airflow.sdk.types",
    "airflow.plugins_manager",
    "airflow.listeners",
    "airflow.triggers.base",
    "airflow.utils.state",
)
"""https://airflow.apache.org/docs/apache-airflow/stable/public-airflow-interface.html. Of `airflow.sdk`: `__all__`."""
PUBLIC_OF_PROVIDERS = re.compile(r"airflow\.providers(\.\w+)+?\.(operators|triggers|hooks|sensors|notifications)\.\w+")
MODULE = re.compile(r"airflow(\.\w+)+")


def named(source: str) -> Iterator[str]:
    """Yield each name that the source imports, wherever it does, and each module of Airflow that a text of it names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE.fullmatch(node.value):
            yield node.value


def is_public(name: str) -> bool:
    """Tell whether it is part of Airflow's public interface. Underscores never are."""
    module, _, own = name.rpartition(".")
    if any(part.startswith("_") for part in name.split(".")):
        return False
    if module == "airflow.sdk":
        return own in airflow.sdk.__all__ or name in PUBLIC
    return module in PUBLIC or PUBLIC_OF_PROVIDERS.fullmatch(module) is not None


def internal(source: str) -> set[str]:
    """Return names of Airflow among them that are not public, the way to its database, and private attributes of
    others.
    """
    tree = ast.parse(source)
    names = {name for name in named(source) if name.split(".")[0] in ("airflow", "sqlalchemy")}
    attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_private(node.attr))
    foreign = {ast.unparse(node) for node in attributes if ast.unparse(node.value) not in ("self", "cls")}
    return {name for name in names if not is_public(name)} | foreign


def is_private(name: str) -> bool:
    """Tell whether it begins with an underscore and is no name of the language's own."""
    return name.startswith("_") and not name.endswith("__")


def sources() -> list[Path]:
    """Return all files of the plugin and of the DAGs but those of the package."""
    found = [*(CHECKOUT / "plugins").rglob("*.py"), *(CHECKOUT / "dags").rglob("*.py")]
    return [path for path in found if not path.is_relative_to(INTERNALS)]


def private_names(kind: type) -> set[str]:
    """Return private attributes that the class itself defines or asks itself for."""
    nodes = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kind)))))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"}
    return {name for name in attributes | set(vars(kind)) if is_private(name)}


def taken_from_airflow(kind: type) -> set[str]:
    """Return those of its private names that a class of Airflow's, from which it inherits, has too."""
    bases = [base for base in kind.__mro__[1:] if base.__module__.split(".")[0] == "airflow"]
    defined = {name for base in bases for name in vars(base)}
    kept = {name for base in bases for name in re.findall(r"\bself\.(_\w+)", inspect.getsource(base))}
    made_by_metaclass = {"_abc_impl"} | {name for name in vars(kind) if name.startswith("_BaseOperator__")}
    return (private_names(kind) - made_by_metaclass) & (defined | kept)


def test_all_internals_of_airflow_are_in_one_package() -> None:
    assert len(sources()) > 60
    found = {str(path): internal(path.read_text(encoding="utf-8")) for path in sources()}
    assert {path: names for path, names in found.items() if names} == {}


def test_no_class_elsewhere_overrides_or_asks_for_what_is_private_to_its_base_in_airflow() -> None:
    files = [path for path in sources() if "from airflow." in path.read_text("utf-8") and path.is_relative_to(BINDING)]
    modules = [
        importlib.import_module(".".join(path.relative_to(BINDING.parent).with_suffix("").parts)) for path in files
    ]
    kinds = {kind for module in modules for kind in vars(module).values() if inspect.isclass(kind)}
    ours = [kind for kind in kinds if kind.__module__.startswith("plimsoll_airflow.")]
    assert len(ours) > 10
    found = {kind.__qualname__: taken_from_airflow(kind) for kind in ours}
    assert {name: taken for name, taken in found.items() if taken} == {}


@pytest.mark.parametrize("path", sorted(INTERNALS.glob("[!_]*.py")), ids=lambda path: path.stem)
def test_each_module_was_read_in_the_locked_airflow(path: Path) -> None:
    locked = re.search(r"^apache-airflow==(\S+)", (CHECKOUT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    assert locked
    assert f"Read in Airflow {locked[1]}" in (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from airflow.sdk import DAG, conf", set()),
        ("from airflow.sdk import configuration", {"airflow.sdk.configuration"}),
        ("from airflow.sdk.execution_time import task_runner", {"airflow.sdk.execution_time.task_runner"}),
        ("from airflow.sdk._shared.module_loading import x", {"airflow.sdk._shared.module_loading.x"}),
        ("from airflow.sdk.types import _Private", {"airflow.sdk.types._Private"}),
        ("from airflow.providers.standard.operators.empty import EmptyOperator", set()),
        ("from airflow.providers.standard.utils.skipmixin import x", {"airflow.providers.standard.utils.skipmixin.x"}),
        ("from airflow.sdkx import DAG", {"airflow.sdkx.DAG"}),
        ("def f():\n    from airflow.models import DagRun", {"airflow.models.DagRun"}),
        ("import airflow.utils.session as s", {"airflow.utils.session"}),
        ('importlib.import_module("airflow.models")', {"airflow.models"}),
        ("from sqlalchemy import select", {"sqlalchemy.select"}),
        ("run._state + self._mine", {"run._state"}),
    ],
)
def test_an_internal_is_found_wherever_it_is_named(source: str, found: set[str]) -> None:
    assert internal(source) == found


def test_a_private_name_of_a_base_in_airflow_is_found() -> None:
    class Overriding(airflow.sdk.BaseOperator):
        def _do_render_template_fields(self) -> None: ...  # type: ignore[override]

    assert taken_from_airflow(Overriding) == {"_do_render_template_fields"}
