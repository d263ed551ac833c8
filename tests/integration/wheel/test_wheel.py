"""The wheel: everything that a checkout's package has is in it, and works where there is no checkout."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.support.processes import CHECKOUT

PACKAGED = {
    "include/plimsoll": "plimsoll",
    "plugins/plimsoll_airflow": "plimsoll_airflow",
    "dags": "plimsoll_airflow/dag_files",
    "include/campaigns": "plimsoll/shipped/campaigns",
    "include/stress": "plimsoll/shipped/stress",
    "include/nodes": "plimsoll/shipped/nodes",
}
"""Folders of the checkout, and where a wheel has them."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it from a copy of what git knows, so that nothing else of the checkout gets into it."""
    folder = tmp_path_factory.mktemp("wheel")
    files = _known("--cached", "--others", "--exclude-standard")
    sources = folder / "sources"
    sources.mkdir()
    _run(["cp", "--no-dereference", "--parents", "--target-directory", str(sources), *files], CHECKOUT)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-index", "--no-deps"]
    _run([*pip, "--no-build-isolation", "--wheel-dir", str(folder), str(sources)], folder)
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_contains_every_file_of_the_packages(wheel: Path) -> None:
    expected = {
        f"{packaged}/{name.removeprefix(f'{folder}/')}"
        for folder, packaged in PACKAGED.items()
        for name in _known("--cached", "--others", "--exclude-standard", folder)
        if not (CHECKOUT / name).is_symlink()
    }
    with ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert len(expected) > 500
    assert found == expected


def test_what_it_ships_is_found_without_a_checkout(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    shown = "from plimsoll.adapters.artefacts.java_programs import load_generator, node_tool; "
    shown += "from plimsoll.settings import Settings; from plimsoll_airflow.dags import DAG_FILES; "
    shown += "print(Settings().campaigns, Settings().store, DAG_FILES, load_generator().entry(), node_tool().entry())"
    environment = {"PYTHONPATH": str(tmp_path / "installed"), "XDG_DATA_HOME": str(tmp_path / "data")}
    campaigns, store, dag_files, *entries = _run([sys.executable, "-c", shown], tmp_path, environment).split()
    assert Path(campaigns) == tmp_path / "installed" / "plimsoll" / "shipped" / "campaigns"
    assert {path.name for path in Path(campaigns).iterdir()} > {"demo.yaml", "definition.schema.json"}
    assert Path(store) == tmp_path / "data" / "plimsoll" / "store"
    shipped, written = ({path.name for path in folder.glob("*.py")} for folder in (Path(dag_files), CHECKOUT / "dags"))
    assert shipped == written
    assert [entry.rpartition("-")[0] for entry in entries] == ["derived/load-generator", "derived/node-tool"]


def _known(*arguments: str) -> list[str]:
    listed = _run(["git", "ls-files", "-z", *arguments], CHECKOUT).split("\0")
    return [name for name in listed if name and (CHECKOUT / name).exists()]


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=True
    ).stdout
