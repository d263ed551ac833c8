"""Which disk a folder is on: from texts as Linux writes them, and on this machine."""

import shutil
from pathlib import Path

import pytest

from plimsoll.adapters.hosts.onhost.readings import data_disk

EBS, NVME = "Amazon Elastic Block Store", "Amazon EC2 NVMe Instance Storage"


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    """Provide the kernel's block devices: the system disk with a partition, two NVMe disks, and an array of these."""
    devices, blocks = tmp_path / "devices", tmp_path / "block"
    blocks.mkdir()
    for name, model in (("nvme0n1", EBS), ("nvme1n1", NVME), ("nvme2n1", NVME), ("md127", ""), ("xvdb", "")):
        (devices / name / "device").mkdir(parents=True)
        (devices / name / "size").write_text("585937500\n")
        if model:
            (devices / name / "device" / "model").write_text(f"{model}      \n")
        (blocks / name).symlink_to(devices / name)
    (devices / "nvme0n1" / "nvme0n1p1").mkdir()
    (devices / "nvme0n1" / "nvme0n1p1" / "partition").write_text("1\n")
    (devices / "nvme0n1" / "nvme0n1p1" / "size").write_text("62500000\n")
    (blocks / "nvme0n1p1").symlink_to(devices / "nvme0n1" / "nvme0n1p1")
    for member in ("nvme1n1", "nvme2n1"):
        (devices / "md127" / "slaves" / member).mkdir(parents=True)
    return blocks


def read(tmp_path: Path, blocks: Path, *mounts: tuple[Path, str, str]) -> object:
    table = tmp_path / "mountinfo"
    lines = [f"22 1 259:1 / {point} rw,noatime shared:1 - {kind} {source} rw\n" for point, source, kind in mounts]
    table.write_text("".join(lines))
    found = data_disk(tmp_path / "data" / "of" / "a cell", table, blocks)
    return found["device"], found["models"], found["bytes"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_a_disk_of_the_instance(tmp_path: Path, blocks: Path, data: Path) -> None:
    mounts = ((Path("/"), "/dev/nvme0n1p1", "xfs"), (data, "/dev/nvme1n1", "xfs"))
    assert read(tmp_path, blocks, *mounts) == ("/dev/nvme1n1", [NVME], 300_000_000_000)


def test_a_disk_whose_place_has_letters_beyond_ascii_and_spaces(tmp_path: Path, blocks: Path) -> None:
    folder = tmp_path / "données à moi"
    folder.mkdir()
    table = tmp_path / "mountinfo"
    point = str(folder).replace(" ", r"\040")
    table.write_text(f"22 1 259:1 / {point} rw shared:1 - xfs /dev/nvme1n1 rw\n", encoding="utf-8")
    assert data_disk(folder / "cell", table, blocks)["models"] == [NVME]


def test_an_array_is_its_disks(tmp_path: Path, blocks: Path, data: Path) -> None:
    assert read(tmp_path, blocks, (data, "/dev/md127", "xfs")) == ("/dev/md127", [NVME, NVME], 300_000_000_000)


def test_the_system_disk_is_told_by_its_partition(tmp_path: Path, blocks: Path, data: Path) -> None:
    other = (tmp_path / "da", "/dev/nvme1n1", "xfs")  # no folder above the data, though its name begins like theirs
    mounts = ((Path("/"), "/dev/nvme0n1p1", "xfs"), other)
    assert read(tmp_path, blocks, *mounts) == ("/dev/nvme0n1p1", [EBS], 32_000_000_000)


def test_of_a_disk_without_a_model_the_file_system_is_told(tmp_path: Path, blocks: Path, data: Path) -> None:
    assert read(tmp_path, blocks, (data, "/dev/xvdb", "xfs")) == ("/dev/xvdb", ["xfs"], 300_000_000_000)


def test_what_is_no_block_device_has_the_size_of_its_file_system(tmp_path: Path, blocks: Path, data: Path) -> None:
    assert read(tmp_path, blocks, (data, "tmpfs", "tmpfs")) == ("tmpfs", ["tmpfs"], shutil.disk_usage(data).total)


def test_this_machine_s_own_disk(tmp_path: Path) -> None:
    found = data_disk(tmp_path)
    assert found["device"]
    assert found["models"]
    assert found["bytes"] >= shutil.disk_usage(tmp_path).total
