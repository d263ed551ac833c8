"""Renew `workloads.json` after a change of workloads. Run with `python -m`, this module writes the file."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.generators.plimsoll_stress.catalogue import FILE, Catalogue
from plimsoll.ports.artefacts import LOAD_JDK


def ask(java: Path, class_path: str) -> dict[str, Any]:
    """Return the load generator's present description of its workloads."""
    argv = [str(java), "-XX:TieredStopAtLevel=1", "-cp", class_path, "plimsoll.stress.Main", "workloads", "--json"]
    described: dict[str, Any] = json.loads(subprocess.run(argv, check=True, capture_output=True, timeout=60).stdout)
    return described


def as_text(described: Mapping[str, Any]) -> str:
    """Return the content of the file for that description."""
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def main(cache: Path) -> None:
    """Write the file again, using the artefacts in that cache."""
    artefacts = Artefacts(cache, print)
    described = ask(artefacts.jdk(LOAD_JDK).java, f"{artefacts.program('load-generator')}/*")
    FILE.write_text(as_text(described), encoding="utf-8")
    print(f"{FILE.name}: {len(Catalogue.model_validate_json(FILE.read_bytes()).workloads)} workloads")


if __name__ == "__main__":
    main(Path.home() / ".cache" / "plimsoll")
