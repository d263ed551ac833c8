from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.hosts.base import host_facts, memory_bytes
from plimsoll.adapters.hosts.onhost import readings

READ = {
    "os_release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"\n',
    "meminfo": "MemTotal: 2 kB\nHugePages_Total: 0\n",
    "cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC: 7R13\n",
    "huge_pages": "always [madvise] never\n",
    "shared_huge_pages": "always within_size [advise] never deny force\n",
    "memory_limit": "max\n",
    "memory_limit_v1": "",
    "system": "Linux",
    "kernel": "6.1",
    "machine": "aarch64",
    "cpus": 8,
    "page_size": 4096,
    "data_disk": {"device": "/dev/nvme1n1", "models": ["Amazon EC2 NVMe Instance Storage"], "bytes": 300 * 10**9},
    "utc_offset_s": 7200,
}


def facts(**changes: Any) -> Any:
    return host_facts({**READ, **changes}, {"rack": "7"})


def test_the_system_names_itself() -> None:
    assert facts().os == "Debian GNU/Linux 12"


def test_a_system_without_a_name_is_what_its_kernel_is() -> None:
    assert facts(os_release="").os == "Linux"


def test_the_processor_names_itself() -> None:
    assert facts().cpu_model == "AMD EPYC: 7R13"


def test_the_zone_of_its_local_time_is_known() -> None:
    assert facts().utc_offset_s == 7200


def test_a_processor_without_a_name_is_its_architecture() -> None:
    assert facts(cpuinfo="processor\t: 0\nBogoMIPS\t: 243.75\n").cpu_model == "aarch64"


def test_memory_is_in_bytes() -> None:
    assert facts().memory_bytes == 2048
    assert facts().swap_bytes == 0


def test_what_the_provider_knows_is_kept() -> None:
    assert facts().provider == {"rack": "7"}


@pytest.mark.parametrize(
    ("text", "chosen"), [("always [madvise] never\n", "madvise"), ("nothing\n", "unknown"), ("", "unavailable")]
)
def test_the_chosen_huge_pages_stand_in_brackets(text: str, chosen: str) -> None:
    assert facts(huge_pages=text).transparent_huge_pages == chosen


def test_huge_pages_of_shared_memory_are_chosen_by_a_switch_of_their_own() -> None:
    assert (facts().shared_huge_pages, facts(shared_huge_pages="").shared_huge_pages) == ("advise", "unavailable")


@pytest.mark.parametrize(("limits", "usable"), [(("max\n", ""), 2048), (("1024\n", ""), 1024), (("", "512\n"), 512)])
def test_a_control_group_limits_memory(limits: Any, usable: int) -> None:
    assert memory_bytes({**READ, "memory_limit": limits[0], "memory_limit_v1": limits[1]}) == usable


def test_the_disk_of_the_data_is_told_with_its_size_and_its_device() -> None:
    assert facts().data_disk == "Amazon EC2 NVMe Instance Storage, 300 GB"
    assert facts().data_disk_device == "/dev/nvme1n1"
    two = {"device": "/dev/md127", "models": ["Some SSD", "Some SSD"], "bytes": 3800 * 10**9}
    assert facts(data_disk=two).data_disk == "2 × Some SSD, 3800 GB"


def test_every_reading_is_read(tmp_path: Path) -> None:
    assert readings.read(tmp_path).keys() == READ.keys()
