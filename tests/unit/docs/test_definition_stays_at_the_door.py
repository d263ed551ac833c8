"""How far a definition gets into the code. The bounds fall with each part of it that is resolved; they never rise."""

import re
from collections.abc import Iterator
from pathlib import Path

import plimsoll
import plimsoll_airflow

PACKAGES = (Path(plimsoll.__file__).parent, Path(plimsoll_airflow.__file__).parent)
IMPORT = re.compile(r"import [^\n]*\bDefinition\b")
MODES = ("is_external", "is_closed_loop", "acts_before_load", "keeps_data", "has_rounds")
"""Questions that were asked in 48 places. A campaign, its parts and what adapters get have values instead."""


def sources() -> Iterator[tuple[Path, str]]:
    for package in PACKAGES:
        for path in package.rglob("*.py"):
            yield path.relative_to(package.parent), path.read_text(encoding="utf-8")


def test_modules_that_import_it() -> None:
    found = [path for path, text in sources() if IMPORT.search(text)]
    assert len(found) <= 22
    assert not [path for path in found if path.parts[:2] in {("plimsoll", "adapters"), ("plimsoll", "ports")}]


def test_nobody_asks_what_kind_of_campaign_it_is() -> None:
    asks = re.compile(rf"\b({'|'.join(MODES)})\b")
    assert asks.search("if campaign.has_rounds:")
    assert not [f"{path}: {found}" for path, text in sources() for found in asks.findall(text)]
