"""How far a definition gets into the code. The bounds fall with each part of it that is resolved; they never rise."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import plimsoll
import plimsoll_airflow

PACKAGES = (Path(plimsoll.__file__).parent, Path(plimsoll_airflow.__file__).parent)
IMPORT = re.compile(r"import [^\n]*\bDefinition\b")
MODES = ("has_rounds",)


def sources() -> Iterator[tuple[Path, str]]:
    for package in PACKAGES:
        for path in package.rglob("*.py"):
            yield path.relative_to(package.parent), path.read_text(encoding="utf-8")


def test_modules_that_import_it() -> None:
    found = [path for path, text in sources() if IMPORT.search(text)]
    assert len(found) <= 27
    assert not [path for path in found if path.parts[:2] in {("plimsoll", "adapters"), ("plimsoll", "ports")}]


@pytest.mark.parametrize("mode", MODES)
def test_the_look_for_modes_finds_something(mode: str) -> None:
    assert any(mode in text for _, text in sources())


def test_places_that_ask_what_kind_of_campaign_it_is() -> None:
    asks = re.compile(rf"\b({'|'.join(MODES)})\b")
    asked = sum(len(asks.findall(text)) for path, text in sources() if path.parts[:2] not in {("plimsoll", "domain")})
    assert asked <= 10
