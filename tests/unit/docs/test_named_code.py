"""Modules, files and folders of the code that the documentation names are there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
PAGES = [
    *CHECKOUT.glob("*.md"),
    *(page for folder in ("docs", "include", "tests") for page in (CHECKOUT / folder).rglob("*.md")),
]
CODE = ("include", "plugins", "dags", "tests", "benchmarks")
ROOTS = ("", "include", "include/plimsoll", "include/plimsoll/adapters/generators", "plugins/plimsoll_airflow", "tests")
"""The folders from which pages name paths, beside their own."""
MODULE_ROOTS = ("", "include", "plugins", "include/stress/src", "include/nodes/src")
PATH = re.compile(r"`((?:[\w.*-]+/)*[\w.*-]+\.(?:py|java)|(?:[\w-]+/)+[\w-]+)[/`]")
MODULE = re.compile(r"`(?:python -m )?((?:plimsoll|plimsoll_airflow|tests|benchmarks)(?:\.[A-Za-z_]\w*)+)(?= |`)")
OF_OTHERS = {"webserver_config.py", "dags/benchmarks.py"}
"""Files that a reader has, not we."""


def missing_paths(page: Path) -> Iterator[str]:
    folders = [*(CHECKOUT / root for root in ROOTS), page.parent]
    for name in set(PATH.findall(page.read_text(encoding="utf-8"))) - OF_OTHERS:
        is_of_code = name.endswith((".py", ".java")) or name.split("/")[0] in CODE
        is_bare = "/" not in name and any(any((CHECKOUT / folder).rglob(name)) for folder in CODE)
        if is_of_code and not is_bare and not any(any(folder.glob(name)) for folder in folders):
            yield name


def missing_modules(page: Path) -> Iterator[str]:
    for name in set(MODULE.findall(page.read_text(encoding="utf-8"))):
        if not any(exists(CHECKOUT.joinpath(root, *name.split("."))) for root in MODULE_ROOTS):
            yield name


def exists(place: Path) -> bool:
    """Tell whether that is a module, or what a module defines."""
    if place.is_dir() or place.with_suffix(".py").is_file() or place.with_suffix(".java").is_file():
        return True
    sources = [place.parent.with_suffix(".py"), place.parent / "__init__.py"]
    return any(source.is_file() and re.search(rf"\b{place.name}\b", source.read_text()) for source in sources)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_what_a_page_names_of_the_code_is_there(page: Path) -> None:
    assert [*missing_paths(page), *missing_modules(page)] == []
