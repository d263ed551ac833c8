"""Everything that `make test-all` runs at full size has a row in docs/contributing/tests.md."""

import re
from pathlib import Path

import pytest
from tests.support.suite import requirements

CHECKOUT = Path(__file__).resolve().parents[3]
TESTS = CHECKOUT / "tests"
TEXT = (CHECKOUT / "docs" / "contributing" / "tests.md").read_text(encoding="utf-8")


def full_size() -> str:
    """Return the first column of the table of both sizes."""
    table = re.search(r"^\| `make test-all` \| `make test` \|\n(?P<rows>(\|.*\n)+)", TEXT, re.MULTILINE)
    assert table is not None
    return "\n".join(row.split("|")[1] for row in table["rows"].splitlines())


def commands() -> list[str]:
    """Return what `make test-all` runs beside the tests."""
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^test-all:.*\n(?P<lines>(\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe is not None
    benchmarks = re.findall(r"-m (benchmarks\.\w+)", recipe["lines"])
    return [*benchmarks, *(f"make {name}" for name in re.findall(r"make (test-[a-z-]+)", recipe["lines"]))]


def test_the_targets_commands_are_found() -> None:
    assert {"benchmarks.false_alarms", "make test-containers", "make test-clean-debian"} <= set(commands())


@pytest.mark.parametrize("command", commands())
def test_a_command_has_a_row(command: str) -> None:
    assert f"`{command}`" in full_size()


def files() -> list[Path]:
    """Return those that name the size, but the one that declares it and this one."""
    asks, aside = re.compile(r"\b(IS_LONG|long\()"), {Path(requirements.__file__), Path(__file__)}
    found = [file for file in TESTS.rglob("*.py") if file.resolve() not in aside]
    return sorted(file.relative_to(TESTS) for file in found if asks.search(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", files(), ids=str)
def test_a_file_that_asks_for_the_size_has_a_row(file: Path) -> None:
    named = (f"`{file}`", f"`{file.name}`", f"`{file.parent}`")
    assert any(name in full_size() for name in named)
