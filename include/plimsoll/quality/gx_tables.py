"""Import Great Expectations for our suites on tables in memory alone, for 0.4 CPU s instead of 1.5.

It makes classes for each kind of file, query and database that it can read, and for sixty expectations, which takes
most of its import. Here only those are made that our suites use. The others can't be used then, so this is for
processes that judge and do nothing else. Whoever shares a process with others, as Airflow's tasks do, imports all.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from plimsoll.quality.gx_import import as_if_not_installed

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE = "great_expectations"
_SOURCES = f"{_PACKAGE}.datasource.fluent"
_READERS = f"{_SOURCES}.dynamic_pandas"
"""It makes a class for each function of pandas that reads something."""
_EXPECTATIONS = f"{_PACKAGE}.expectations.core"
_LEFT_OUT = {_SOURCES: ("*_datasource.py", "fabric.py"), _EXPECTATIONS: ("*expect*.py",)}
_USED = (
    f"{_SOURCES}.invalid_datasource",
    f"{_SOURCES}.pandas_datasource",
    f"{_EXPECTATIONS}.expect_column_max_to_be_between",
    f"{_EXPECTATIONS}.expect_column_min_to_be_between",
    f"{_EXPECTATIONS}.expect_column_pair_values_a_to_be_greater_than_b",
    f"{_EXPECTATIONS}.expect_column_values_to_be_between",
    f"{_EXPECTATIONS}.expect_column_values_to_be_in_set",
    f"{_EXPECTATIONS}.expect_table_row_count_to_equal",
)
_CLOUDS = ("boto3", "botocore")


@contextmanager
def suites_alone() -> Iterator[None]:
    """Great Expectations, if it is imported inside the block, has what our suites use and nothing else."""
    left_out = {name: _LeftOut(name) for name in _names_left_out()} | {_READERS: _no_readers()}
    added = {name: module for name, module in left_out.items() if name not in sys.modules}
    sys.modules.update(added)
    try:
        with as_if_not_installed(_CLOUDS):
            yield
    finally:
        for name in added:
            del sys.modules[name]


def _names_left_out() -> Iterator[str]:
    spec = find_spec(_PACKAGE)
    for root in (spec.submodule_search_locations or ()) if spec else ():
        for package, patterns in _LEFT_OUT.items():
            folder = Path(root, *package.split(".")[1:])
            names = {f"{package}.{path.stem}" for pattern in patterns for path in folder.glob(pattern)}
            yield from names.difference(_USED)


def _no_readers() -> ModuleType:
    module = ModuleType(_READERS)
    module.__dict__["_generate_pandas_data_asset_models"] = lambda *_, **__: {}
    return module


class _LeftOut(ModuleType):
    """Stands for a module. It has a class of every name that it is asked for, of which nothing can be made."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Unusable,), {})


class _Unusable:
    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} is left out of this process: add it to {__name__}")
