"""What hosts of the test cloud must not do to this machine or to one another, and what ends with them.

What they do right is seen by the tests of the EC2 provider, which would fail without it.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cloud.cloud import Cloud
from tests.cloud.slots import processes
from tests.support.cloud.clients import Aws, described, eventually, launch, state
from tests.support.ssh.command import Ssh, keygen

Start = Callable[..., tuple[str, str]]


@pytest.fixture
def ssh(tmp_path: Path) -> Ssh:
    """Provide a new key, no host known."""
    return Ssh(keygen(tmp_path / "id"), tmp_path / "known_hosts")


@pytest.fixture
def ec2(cloud: Cloud) -> Iterator[Any]:
    """Provide EC2 of the cloud with hosts, and terminate every instance after the test."""
    client = Aws(cloud.endpoint).client("ec2")
    yield client
    cloud.clear()
    for instance_id in cloud.leftovers()["instances"]:
        client.terminate_instances(InstanceIds=[instance_id])
    eventually(cloud.nothing_left)


@pytest.fixture
def start(ec2: Any, cloud: Cloud, ssh: Ssh, tmp_path: Path) -> Start:
    """Launch a host whose key is known and that lets the tester in; return its id and address once it has booted."""
    key = keygen(tmp_path / "host_key")
    public = key.with_suffix(".pub").read_text()

    def launched(**config: Any) -> tuple[str, str]:
        user = {"name": "ec2-user", "shell": "/bin/bash", "sudo": "ALL=(ALL) NOPASSWD:ALL"}
        document = {
            "ssh_keys": {"ed25519_private": key.read_text(), "ed25519_public": public},
            "users": [user | {"ssh_authorized_keys": [ssh.public]}],
            **config,
        }
        (instance,) = launch(ec2, cloud, UserData=f"#cloud-config\n{json.dumps(document)}")
        eventually(lambda: state(ec2, instance) == "running")
        eventually(lambda: cloud.log(instance).booted)
        address = described(ec2, instance)["PrivateIpAddress"]
        ssh.trust(address, public)
        return instance, address

    return launched


def test_user_data_is_executed_in_the_hosts_own_view(start: Start, ssh: Ssh, cloud: Cloud) -> None:
    instance, address = start(
        write_files=[{"path": "/opt/plimsoll/hello", "content": "hello\n", "permissions": "0640", "owner": "root:adm"}],
        runcmd=["cd /var/tmp", "cat /opt/plimsoll/hello >> order", ["sh", "-c", "exit 3"]],
    )
    assert ssh.run(address, "cat /var/tmp/order; stat -c '%a %G' /opt/plimsoll/hello").stdout == "hello\n640 adm\n"
    assert cloud.log(instance).executed["sh -c 'exit 3'"] == 3
    assert not Path("/opt/plimsoll/hello").exists()
    assert not Path("/var/tmp/order").exists()


def test_user_data_that_is_not_supported_does_not_boot(start: Start, cloud: Cloud, ec2: Any) -> None:
    instance, _ = start(snap={"commands": []})
    assert "snap" in cloud.log(instance).of("failed")[0]["what"]
    (status,) = ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"]
    assert status["InstanceStatus"]["Status"] == "impaired"


def test_what_concerns_the_whole_machine_touches_only_the_host(start: Start, ssh: Ssh, cloud: Cloud) -> None:
    swappiness, huge = Path("/proc/sys/vm/swappiness"), Path("/sys/kernel/mm/transparent_hugepage/enabled")
    before = swappiness.read_text(), huge.read_text()
    instance, address = start(
        runcmd=["swapoff --all", "sysctl -w vm.swappiness=77", "sysctl -q --system", f"echo never > {huge}"],
        write_files=[
            {
                "path": "/etc/sysctl.d/90-test.conf",
                "content": "vm.max_map_count = 1048575\n",
                "permissions": "0644",
                "owner": "root:root",
            }
        ],
    )
    seen = ssh.run(address, f"cat {swappiness} /proc/sys/vm/max_map_count {huge}").stdout
    assert seen == "77\n1048575\nalways madvise [never]\n"
    assert ["swapoff", "--all"] in cloud.log(instance).calls
    assert set(cloud.log(instance).executed.values()) == {0}
    assert (swappiness.read_text(), huge.read_text()) == before


def test_hosts_do_not_see_each_others_files_nor_the_machines(start: Start, ssh: Ssh) -> None:
    (_, one), (_, other) = start(), start()
    places = "/tmp/mine /var/lib/mine /etc/ssh/mine /usr/local/mine"
    assert ssh.run(one, f"sudo touch {places}").returncode == 0
    assert ssh.run(other, f"ls {places}").stdout == ""
    checkout = Path(__file__).parents[3]
    assert ssh.run(one, f"ls {checkout}").returncode != 0
    assert not Path("/etc/ssh/mine").exists()


@pytest.fixture
def left_behind() -> Iterator[Path]:
    """Provide a file on the machine itself, where Plimsoll in containers keeps its files."""
    folder = Path("/var/lib/plimsoll")
    was_there = folder.is_dir()
    folder.mkdir(exist_ok=True)
    file = folder / f"left-by-a-test-{os.getpid()}"
    file.touch()
    yield file
    file.unlink()
    if not was_there:
        folder.rmdir()


def test_a_host_has_nothing_of_what_the_product_left_on_the_machine(left_behind: Path, start: Start, ssh: Ssh) -> None:
    _, address = start()
    made = ssh.run(address, f"sudo mkdir {left_behind.parent} && ls {left_behind.parent}")
    assert (made.returncode, made.stdout) == (0, "")


def test_a_host_that_starts_programs_all_the_time_can_be_frozen(start: Start, cloud: Cloud) -> None:
    instance, _ = start(runcmd=["for _ in 1 2; do (while :; do /bin/true; done) >/dev/null 2>&1 & done"])
    host = cloud.host(instance)
    for _ in range(20):
        host.freeze()
        host.thaw()


def names(host: Any) -> set[str]:
    return {process.info["name"] for process in psutil.process_iter(["name"]) if process in set(host.processes())}


def test_a_terminated_host_is_gone_with_all_it_ran(start: Start, ssh: Ssh, ec2: Any, cloud: Cloud) -> None:
    instance, address = start()
    ssh.run(address, "setsid sleep 1000 </dev/null >/dev/null 2>&1 &")
    host: Any = cloud.host(instance)
    eventually(lambda: "sleep" in names(host))
    running = list(host.processes())
    ec2.terminate_instances(InstanceIds=[instance])
    eventually(lambda: not any(psutil.pid_exists(process.pid) for process in running))
    assert not host.folder.exists()
    assert list(processes(host.folder)) == []
