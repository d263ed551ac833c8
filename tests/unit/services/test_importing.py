"""Imports that are killed, or that two people begin at once."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.installation import Installation
from tests.fakes.owners import FixedOwners

from plimsoll.adapters.stores.local_files import FoundFile, ImportFolder
from plimsoll.domain.text.errors import Refused
from plimsoll.services.campaign.curating import deletable
from plimsoll.services.imports.description import DescribedRun, parse_description
from plimsoll.services.imports.importing import import_runs
from plimsoll.services.ownership import held
from plimsoll.services.toolkit import Toolkit

DESCRIPTION = """
campaign: shop-1
source: our shop
files: ["{variant}.csv"]
definition:
  name: shop
  title: Our shop
  system: {database: shop, version: "1.8", nodes: 1}
  variants: [{id: before}]
  loads: [100/s]
  repeats: 1
  workload: {name: checkout}
  load_generator: {name: k6}
  timing: {duration: 150m, warmup: 30m}
"""


@pytest.fixture
def tools(tmp_path: Path) -> Toolkit:
    (tmp_path / "store").mkdir()
    (tmp_path / "before.csv").write_text("?\n")
    return replace(Installation(tmp_path).toolkit, owners=FixedOwners(me="first", alive={"first"}))


def imported(tools: Toolkit, tmp_path: Path) -> None:
    def find(wanted: DescribedRun) -> tuple[FoundFile, ...]:
        return ImportFolder(tmp_path).find(wanted.patterns, required=wanted.required)

    import_runs(tools, parse_description(DESCRIPTION, "import.yaml"), find, print)


def test_patterns_that_find_nothing_are_named(tools: Toolkit, tmp_path: Path) -> None:
    (tmp_path / "before.csv").unlink()
    with pytest.raises(Refused, match=r"the import of shop-1: [^#]*no pattern finds any file: \{variant\}\.csv"):
        imported(tools, tmp_path)


def test_the_attempt_of_an_import_that_was_killed_does_not_run_any_more(
    tools: Toolkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tools.store, "upload", killed)
    with pytest.raises(KeyboardInterrupt):
        imported(tools, tmp_path)

    # Only of processes can anybody tell whether they live
    later = replace(tools, owners=FixedOwners(me="second", alive={"second"}, unknown={"import"}))
    assert deletable(later, "shop-1", "ada").attempts == 1


def test_nobody_imports_into_a_campaign_that_another_process_holds(tools: Toolkit, tmp_path: Path) -> None:
    second = replace(tools, owners=FixedOwners(me="second", alive={"first"}))
    with held(tools, "shop-1"), pytest.raises(Refused, match="is being run by first, since"):
        imported(second, tmp_path)
    assert [*tools.store.keys("shop-1/cells")] == []
