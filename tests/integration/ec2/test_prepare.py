"""The script that prepares hosts, run in a file system view of its own; what changes a whole machine is a stand-in."""

import os
import shutil
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.support.suite.requirements import needs

SCRIPT = files("plimsoll.adapters.providers.ec2").joinpath("prepare.sh")

# What is mounted here is this view's own: the real swap, kernel and disks are not touched.
VIEW = """
set -e
mount --make-rprivate /
mount -t tmpfs none /sys/kernel/mm/transparent_hugepage
echo 'always madvise never' > /sys/kernel/mm/transparent_hugepage/enabled
echo 'always within_size advise never deny force' > /sys/kernel/mm/transparent_hugepage/shmem_enabled
mount -t tmpfs none /sys/class/block
mkdir -p /sys/class/block/nvme1n1/queue
cp /etc/passwd /etc/group "$FAKE/etc"
mount --bind "$FAKE/etc" /etc
mount -t tmpfs none /dev
ln -s /proc/self/fd/0 /dev/stdin
mkdir -p /dev/disk/by-id
touch /dev/null
for number in $(seq "$DISKS"); do
    [ "$LETTERS" ] && break
    touch "/dev/nvme${number}n1"
    mkdir -p "/sys/class/block/nvme${number}n1"
    echo 1855468750 > "/sys/class/block/nvme${number}n1/size"  # 950 GB
    for name in "AWS$number" "AWS${number}_1" "AWS$number-ns-1"; do
        ln -s "/dev/nvme${number}n1" "/dev/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_$name"
    done
done
for letter in $LETTERS; do [ "$DISKS" -gt 0 ] && touch "/dev/xvd$letter"; done
mount -t tmpfs none /var/lib
set +e
PATH="$FAKE/bin:$PATH" sh "$FAKE/prepare.sh" "$(id -un)" /var/lib/plimsoll 4 "$PAGES" "$EXPECTED" "$LETTERS" "$GB"
echo "exit $?"
cat /var/lib/plimsoll/prepared
echo "pages $(cat /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/transparent_hugepage/shmem_enabled)"
cat /etc/fstab
cat /sys/class/block/nvme1n1/queue/read_ahead_kb /sys/class/block/nvme1n1/queue/scheduler
"""


def may_unshare() -> Any:
    unshare = shutil.which("unshare")
    return unshare is not None and subprocess.run([unshare, "-m", "true"], check=False, timeout=30).returncode == 0


pytestmark = needs(may_unshare(), "needs the right to a mount namespace")


@pytest.fixture
def prepare(tmp_path: Path) -> Callable[..., Any]:
    (tmp_path / "bin").mkdir()
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "fstab").write_text("/dev/x / xfs defaults 0 0\n/dev/y none swap sw 0 0\n")
    (tmp_path / "prepare.sh").write_text(SCRIPT.read_text())
    log = tmp_path / "log"

    def stand_in(name: Any, then: str = "exit 0") -> None:
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >> {log}\n{then}\n')
        program.chmod(0o755)

    log.touch()
    for name in ("mkfs.xfs", "mount", "umount", "swapoff", "sysctl"):
        stand_in(name)
    stand_in("findmnt", "echo /dev/nvme1n1")
    stand_in("mountpoint", "exit 1")

    def run(  # all that a host may differ in
        *,
        disks: int = 1,
        expected: int | None = None,
        gigabytes: int = 0,
        letters: str = "",
        failing: str = "",
        mdadm: bool = True,
        pages: str = "madvise",
    ) -> tuple[Any, str]:
        if mdadm:
            stand_in("mdadm", "mkdir -p /dev/md; touch /dev/md127; ln -s /dev/md127 /dev/md/plimsoll")
        if failing:
            stand_in(failing, "exit 1")
        # The view itself mounts with the real program, before the stand-ins come onto the path.
        env = {"PATH": os.environ["PATH"], "FAKE": str(tmp_path), "DISKS": str(disks), "PAGES": pages}
        env |= {"EXPECTED": str(disks if expected is None else expected), "LETTERS": letters, "GB": str(gigabytes)}
        found = subprocess.run(
            ["unshare", "-m", "sh", "-c", VIEW], env=env, capture_output=True, text=True, check=False, timeout=60
        )
        return found.stdout, log.read_text()

    return run


def test_a_host_with_a_disk_of_its_own_is_prepared(prepare: Callable[..., Any]) -> None:
    out, log = prepare()
    assert "exit 0\nok\n" in out
    assert "mkfs.xfs -q -f /dev/nvme1n1\n" in log
    assert "mount -o noatime,nodiratime /dev/nvme1n1 /var/lib/plimsoll\n" in log
    assert "/dev/nvme1n1 /var/lib/plimsoll xfs" in out
    assert "swapoff --all\n" in log
    assert "swap sw" not in out
    assert "sysctl -q -e -p /etc/sysctl.d/90-plimsoll.conf\n" in log
    assert out.endswith("4none")


@pytest.mark.parametrize(
    ("pages", "written"), [("madvise", "madviseadvise"), ("always", "alwaysalways"), ("never", "nevernever")]
)
def test_huge_pages_are_chosen_for_shared_memory_too(prepare: Callable[..., Any], pages: str, written: str) -> None:
    out, _ = prepare(pages=pages)
    assert f"ok\npages {written}\n" in out


def test_a_host_without_one_keeps_its_data_on_the_system_disk(prepare: Callable[..., Any]) -> None:
    out, log = prepare(disks=0)
    assert "exit 0\nok\n" in out
    assert "mkfs.xfs" not in log


def test_several_disks_become_one(prepare: Callable[..., Any]) -> None:
    out, log = prepare(disks=2)
    assert "exit 0\nok\n" in out
    by_id = "/dev/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_AWS"
    assert f"--level=0 --raid-devices=2 {by_id}1 {by_id}2\n" in log
    assert "mkfs.xfs -q -f /dev/md127\n" in log
    assert "/dev/md127 /var/lib/plimsoll xfs" in out


def test_disks_of_older_types_are_found_by_the_names_that_their_launch_gave_them(prepare: Callable[..., Any]) -> None:
    out, log = prepare(disks=2, letters="b c")
    assert "exit 0\nok\n" in out
    assert "umount /dev/xvdb\numount /dev/xvdc\n" in log
    assert "--level=0 --raid-devices=2 /dev/xvdb /dev/xvdc\n" in log


@pytest.mark.parametrize("letters", ["", "b"])
def test_a_host_that_lacks_a_disk_of_its_type_is_not_prepared(prepare: Callable[..., Any], letters: str) -> None:
    out, log = prepare(disks=0, expected=1, letters=letters)
    assert "exit 1\nthe instance type has disks of its own (instance store): 1, and the host shows 0\n" in out
    assert "mkfs.xfs" not in log


def test_a_host_whose_disks_are_smaller_than_those_of_its_type_is_not_prepared(prepare: Callable[..., Any]) -> None:
    assert "exit 0\nok\n" in prepare(disks=2, gigabytes=2000)[0]
    out, log = prepare(disks=2, gigabytes=3800)
    assert "exit 1\nthe instance type has 3800 GB of disks of its own, and the host shows 1900 GB\n" in out
    assert log.count("mkfs.xfs") == 1


@pytest.mark.skipif(shutil.which("mdadm") is not None, reason="this machine has mdadm")
def test_an_image_that_can_not_join_disks_says_so(prepare: Callable[..., Any]) -> None:
    out, _ = prepare(disks=2, mdadm=False)
    assert "exit 1\nthe host has 2 data disks, and its image has no mdadm to join them\n" in out


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ("mkfs.xfs", "can't make a file system on /dev/nvme1n1"),
        ("mount", "can't mount /dev/nvme1n1"),
        ("swapoff", "can't turn swap off"),
        ("sysctl", "can't set the kernel's parameters"),
    ],
)
def test_what_fails_is_said_where_the_controller_reads_it(prepare: Callable[..., Any], failing: str, said: str) -> None:
    out, _ = prepare(failing=failing)
    assert f"exit 1\n{said}\n" in out
