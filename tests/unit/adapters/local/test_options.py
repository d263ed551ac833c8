from pathlib import Path

import psutil
import pytest

from plimsoll.adapters.local.options import check_machine
from plimsoll.domain.definition import Definition
from plimsoll.services.definitions import parse_definition

DEMO = (Path(__file__).parents[4] / "include" / "campaigns" / "demo.yaml").read_text()


def demo(old: str = "", new: str = "") -> Definition:
    assert old in DEMO
    return parse_definition(DEMO.replace(old, new, 1) if old else DEMO, "demo.yaml")


@pytest.fixture(autouse=True)
def _a_machine_of_16_gib(monkeypatch):
    memory = psutil.virtual_memory()._replace(total=16 << 30, available=8 << 30)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)


def test_the_demo_fits(tmp_path):
    assert list(check_machine(demo(), tmp_path / "new" / "work")) == []


def test_a_heap_larger_than_the_machine_is_refused_by_name(tmp_path):
    first, *_ = check_machine(demo("heap: 512M", "heap: 40G"), tmp_path)
    assert first.where == "variants.0.jvm.heap"
    assert "40.0 GiB for variant 'g1' is larger than this machine's 16.0 GiB" in first.what


def test_more_cells_at_once_than_memory_holds_are_refused(tmp_path):
    (problem,) = check_machine(demo("max_parallel: 1", "max_parallel: 4"), tmp_path)
    assert problem.where == "max_parallel"
    assert "8.0 GiB are available" in problem.what


def test_an_unknown_option_is_refused_with_those_allowed(tmp_path):
    (problem,) = check_machine(demo("{name: local}", "{name: local, options: {zone: a}}"), tmp_path)
    assert problem.where == "provider.options.zone"
    assert "memory_beside_heap" in problem.mend


def test_a_work_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("in the way")
    (problem,) = check_machine(demo(), tmp_path / "file" / "work")
    assert problem.where.startswith("PLIMSOLL_WORK")


def test_too_little_disk_is_refused(tmp_path, monkeypatch):
    import shutil

    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 99, 1))
    (problem,) = check_machine(demo(), tmp_path)
    assert "clusters need 3.0 GiB of disk" in problem.what
