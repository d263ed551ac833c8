"""The files of this checkout on which a set of files depends, found by following import statements."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.support.suite.groups import CHECKOUT

ROOTS = {
    "tests": CHECKOUT,
    "benchmarks": CHECKOUT,
    "plimsoll": CHECKOUT / "include",
    "plimsoll_airflow": CHECKOUT / "plugins",
}
"""The folders of the packages of this checkout."""


def closure(files: Iterable[Path]) -> set[Path]:
    """The files, with all files of this checkout that they import, directly or indirectly."""
    found, left = set[Path](), list(files)
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left.extend(_imports(file) if file.suffix == ".py" else ())
    return found


@cache
def _imports(file: Path) -> tuple[Path, ...]:
    """What the file imports. Files are assumed not to change while the process runs."""
    return tuple(_imported(file))


def _imported(file: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files_of(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield from _files_of(f"{node.module}.{alias.name}")


def _files_of(name: str) -> Iterator[Path]:
    """The module's file and those of the packages above it. The last part of the name may be a name in the module."""
    first, *rest = name.split(".")
    if first not in ROOTS:
        return
    place = ROOTS[first] / first
    for part in [*rest, ""]:
        if (place / "__init__.py").is_file():
            yield place / "__init__.py"
        if part and (place / f"{part}.py").is_file():
            yield place / f"{part}.py"
        place = place / part
