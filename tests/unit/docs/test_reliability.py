"""The fault table of docs/reference/reliability.md and the tests that it names can't drift apart."""

import ast
import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)(\[[\w-]+\])?`")
TEXT = (CHECKOUT / "docs" / "reference" / "reliability.md").read_text(encoding="utf-8")


def functions_of(file: Path) -> set[str]:
    return {node.name for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("found", list(NAMED.finditer(TEXT)), ids=lambda found: found[2])
def test_the_test_of_a_row_exists(found: re.Match[str]) -> None:
    path, name, _ = found.groups()
    assert name in functions_of(CHECKOUT / path)


def test_every_test_that_strikes_whole_cells_has_a_row() -> None:
    listed = {(path, name) for path, name, _ in NAMED.findall(TEXT)}
    files = [
        *sorted((CHECKOUT / "tests/integration/reliability").glob("test_*.py")),
        CHECKOUT / "tests/system/kills/test_phases.py",
        CHECKOUT / "tests/system/kills/test_rounds.py",
    ]
    written = {
        (str(file.relative_to(CHECKOUT)), name)
        for file in files
        for name in functions_of(file)
        if name.startswith("test_")
    }
    assert written <= listed
