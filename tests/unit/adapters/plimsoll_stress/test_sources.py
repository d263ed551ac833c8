"""The seams of the load generator's sources, which no compiler watches over."""

import re
from pathlib import Path
from typing import Any

import plimsoll.adapters.generators.plimsoll_stress as adapter

SOURCES = Path(adapter.__file__).parents[4] / "stress" / "src" / "plimsoll" / "stress"


def imports(folder: Path) -> set[Any]:
    """Return every imported class below a folder, with the file that imports it."""
    found = re.compile(r"^import (?:static )?([\w.]+);", re.MULTILINE)
    return {(path.name, name) for path in folder.rglob("*.java") for name in found.findall(path.read_text())}


def test_the_core_knows_no_driver_no_client_and_no_workload() -> None:
    assert imports(SOURCES / "core")
    foreign = ("com.datastax", "plimsoll.stress.cql", "plimsoll.stress.workloads")
    assert [pair for pair in sorted(imports(SOURCES / "core")) if pair[1].startswith(foreign)] == []


def test_workloads_know_no_driver() -> None:
    assert [pair for pair in sorted(imports(SOURCES / "workloads")) if pair[1].startswith("com.datastax")] == []


def test_only_the_client_for_cql_knows_the_driver() -> None:
    users = {path.parent.name for path in SOURCES.rglob("*.java") if "com.datastax" in path.read_text()}
    assert users == {"cql"}
