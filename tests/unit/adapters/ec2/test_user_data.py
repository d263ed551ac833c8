import json
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.providers import ec2
from plimsoll.adapters.providers.ec2.instance_types import InstanceStore
from plimsoll.adapters.providers.ec2.user_data import PREPARE, PROLONG, HostSetup, cloud_config, host_key
from plimsoll.adapters.providers.ssh.login import authorized_key
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.ports.secrets import SshIdentity

LIMIT = 16 * 1024
"""Bytes that AWS takes."""


@pytest.fixture
def setup(identity: SshIdentity, key: ClusterId) -> HostSetup:
    return HostSetup(
        user="bench",
        root="/var/lib/plimsoll",
        host_key=host_key(identity, key),
        authorized=authorized_key(identity, "plimsoll_ssh"),
        ends_at=datetime(2026, 1, 31, 15, 30, tzinfo=UTC),
        transparent_huge_pages="madvise",
        readahead_kib=4,
    )


@pytest.fixture
def document(setup: HostSetup) -> Any:
    head, _, body = cloud_config(setup).partition("\n")
    assert head == "#cloud-config"
    return json.loads(body)


def written(document: Any, path: str) -> Any:
    return next(file["content"] for file in document["write_files"] if file["path"] == path)


def test_it_fits(setup: HostSetup) -> None:
    assert len(cloud_config(setup).encode()) < LIMIT


def test_it_is_the_same_every_time(setup: HostSetup) -> None:
    assert cloud_config(setup) == cloud_config(setup)


def test_the_host_shows_the_expected_key_and_no_other(document: Any, setup: HostSetup) -> None:
    assert document["ssh_deletekeys"] is True
    assert document["ssh_genkeytypes"] == []
    assert document["ssh_keys"] == {
        "ed25519_private": setup.host_key.private,
        "ed25519_public": setup.host_key.public,
    }


def test_who_logs_in_to_hosts_that_are_kept_may_move_their_end_and_nothing_else(setup: HostSetup) -> None:
    kept: Any = json.loads(cloud_config(replace(setup, is_kept=True)).partition("\n")[2])
    assert kept["users"][0]["sudo"] == f"ALL=(root) NOPASSWD: {PROLONG}"
    assert "OnCalendar" in written(kept, PROLONG)
    assert len(cloud_config(replace(setup, is_kept=True)).encode()) < LIMIT


@pytest.mark.parametrize(
    ("time", "says"),
    [
        ("2026-01-31 15:30:00 UTC", ""),
        ("2026-01-31 15:30:00", "not a time"),
        ("2026-01-31 15:30:00 UTC\n[Service]", "not a time"),
        ("2026-01-31 15:30:00 UTC/e date", "not a time"),
        ("", "not a time"),
    ],
)
def test_only_a_time_is_taken_for_one(tmp_path: Path, time: str, says: str) -> None:
    """Run up to where it would change the host."""
    script = tmp_path / "prolong"
    script.write_text(files(ec2).joinpath("prolong.sh").read_text(encoding="utf-8").partition("# The file")[0])
    ran = subprocess.run(["/bin/sh", script, time], capture_output=True, text=True, check=False, timeout=30)
    assert (ran.returncode, says in ran.stderr) == (2 if says else 0, True)


def test_only_the_connections_key_gets_in_and_not_as_root(document: Any, setup: HostSetup) -> None:
    assert document["users"][0]["ssh_authorized_keys"] == [setup.authorized]
    assert "sudo" not in document["users"][0]
    assert (document["ssh_pwauth"], document["disable_root"]) == (False, True)


def test_the_connections_private_key_is_not_in_it(setup: HostSetup, identity: SshIdentity) -> None:
    lines = identity.private_key.strip().splitlines()
    # The first line of any such key is the same.
    assert not any(line in cloud_config(setup) for line in lines[2:-1])


def test_the_dead_mans_switch_comes_first(document: Any) -> None:
    assert document["runcmd"][1] == ["systemctl", "enable", "--now", "plimsoll-expiry.timer"]
    assert "OnCalendar=2026-01-31 15:30:00 UTC" in written(document, "/etc/systemd/system/plimsoll-expiry.timer")
    assert "shutdown -h now" in written(document, "/etc/systemd/system/plimsoll-expiry.service")


def test_the_host_is_prepared_as_the_options_say(document: Any) -> None:
    assert document["runcmd"][-1] == [PREPARE, "bench", "/var/lib/plimsoll", "4", "madvise", "0", "", "0"]
    assert "max_map_count = 1048575" in written(document, "/etc/sysctl.d/90-plimsoll.conf")
    assert "* - memlock unlimited" in written(document, "/etc/security/limits.d/plimsoll.conf")


def test_the_host_is_told_which_disks_its_type_has(setup: HostSetup) -> None:
    nvme, older = (replace(setup, disks=InstanceStore(2, 3800, is_mapped=one)) for one in (False, True))
    arguments = [json.loads(cloud_config(one).partition("\n")[2])["runcmd"][-1][-3:] for one in (nvme, older)]
    assert arguments == [["2", "", "3800"], ["2", "b c", "3800"]]


def test_huge_pages_are_given_to_who_asks_and_not_set_aside(document: Any, setup: HostSetup) -> None:
    given: Any = json.loads(cloud_config(replace(setup, huge_pages=3 << 30)).partition("\n")[2])
    assert "vm.nr_overcommit_hugepages = 1536\n" in written(given, "/etc/sysctl.d/90-plimsoll.conf")
    assert "hugepages" not in written(document, "/etc/sysctl.d/90-plimsoll.conf")
    assert "nr_hugepages" not in cloud_config(setup)


def test_values_are_arguments_of_the_script_and_never_part_of_it(document: Any) -> None:
    script = written(document, PREPARE)
    assert "bench" not in script
    assert "/var/lib/plimsoll" not in script
