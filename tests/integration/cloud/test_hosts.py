"""Hosts behind instances, through boto3 and OpenSSH's own client."""

import json
import os
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cloud.cloud import Cloud
from tests.cloud.faults import NoBoot, SmallDisk
from tests.cloud.slots import processes
from tests.support.cloud.clients import Aws, described, eventually, launch, state
from tests.support.ssh.command import Ssh, keygen

Start = Callable[..., tuple[str, str]]


@pytest.fixture
def ec2(cloud: Cloud) -> Iterator[Any]:
    """EC2 of the cloud with hosts; every instance is terminated after the test."""
    client = Aws(cloud.endpoint).client("ec2")
    yield client
    cloud.clear()
    for instance_id in cloud.leftovers()["instances"]:
        client.terminate_instances(InstanceIds=[instance_id])
    eventually(cloud.nothing_left)


@pytest.fixture
def start(ec2: Any, cloud: Cloud, ssh: Ssh, tmp_path: Path) -> Start:
    """Launches a host whose key is known and who lets the tester in; returns its id and address once it has booted."""
    key = keygen(tmp_path / "host_key")
    public = key.with_suffix(".pub").read_text()

    def launched(**config: Any) -> tuple[str, str]:
        parameters = config.pop("parameters", {})
        document = {
            "ssh_keys": {"ed25519_private": key.read_text(), "ed25519_public": public},
            "ssh_authorized_keys": [ssh.public],
            **config,
        }
        (instance,) = launch(ec2, cloud, UserData=f"#cloud-config\n{json.dumps(document)}", **parameters)
        eventually(lambda: state(ec2, instance) == "running")
        eventually(lambda: cloud.log(instance).booted)
        address = described(ec2, instance)["PrivateIpAddress"]
        ssh.trust(address, public)
        return instance, address

    return launched


def test_a_host_answers_at_its_address_with_the_key_of_its_user_data(start: Start, ssh: Ssh) -> None:
    _, address = start()
    answer = ssh.run(address, "hostname; id -un; sudo id -un")
    assert answer.stdout.split() == ["ip-" + address.replace(".", "-"), "ec2-user", "root"], answer.stderr


def test_another_host_key_is_refused(start: Start, ssh: Ssh, tmp_path: Path) -> None:
    _, address = start()
    ssh.known_hosts.unlink()
    ssh.trust(address, keygen(tmp_path / "other").with_suffix(".pub").read_text())
    answer = ssh.run(address, "true")
    assert (answer.returncode, "Host key verification failed" in answer.stderr) == (255, True)


def test_only_those_whom_the_user_data_names_get_in(start: Start, ssh: Ssh) -> None:
    _, address = start(users=[{"name": "bench", "shell": "/bin/sh", "ssh_authorized_keys": [ssh.public]}])
    assert ssh.run(address, "id -un", user="bench").stdout == "bench\n"
    for user in ("root", "ec2-user"):
        assert ssh.run(address, "true", user=user).returncode == 255


def test_user_data_is_executed_in_the_hosts_own_view(start: Start, ssh: Ssh, cloud: Cloud) -> None:
    instance, address = start(
        bootcmd=["echo early > /var/tmp/order"],
        write_files=[{"path": "/opt/plimsoll/hello", "content": "hello\n", "permissions": "0640", "owner": "root:adm"}],
        runcmd=["cd /var/tmp", "cat /opt/plimsoll/hello >> order", ["sh", "-c", "exit 3"]],
    )
    assert (
        ssh.run(address, "cat /var/tmp/order; stat -c '%a %G' /opt/plimsoll/hello").stdout == "early\nhello\n640 adm\n"
    )
    assert cloud.log(instance).executed["sh -c 'exit 3'"] == 3
    assert ssh.run(address, "cloud-init status --wait").stdout == "status: done\n"
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
        write_files=[{"path": "/etc/sysctl.d/90-test.conf", "content": "vm.max_map_count = 1048575\n"}],
    )
    seen = ssh.run(address, f"cat {swappiness} /proc/sys/vm/max_map_count {huge}").stdout
    assert seen == "77\n1048575\nalways madvise [never]\n"
    assert ["swapoff", "--all"] in cloud.log(instance).calls
    assert set(cloud.log(instance).executed.values()) == {0}
    assert (swappiness.read_text(), huge.read_text()) == before


def test_the_nvme_disk_is_there_to_be_formatted_and_mounted(start: Start, ssh: Ssh, cloud: Cloud) -> None:
    find = "readlink -f $(find /dev/disk/by-id -name 'nvme-Amazon_EC2_NVMe_Instance_Storage_*')"
    instance, address = start(
        runcmd=[
            "mkdir /data",
            "mount /dev/nvme1n1 /data || echo not yet",
            f"mkfs.xfs -q $({find})",
            f"mount -o noatime $({find}) /data",
            "touch /data/file",
        ]
    )
    assert (
        ssh.run(address, f"{find}; findmnt -n -o SOURCE --target /data; ls /data").stdout
        == "/dev/nvme1n1\n/dev/nvme1n1\nfile\n"
    )
    assert set(cloud.log(instance).executed.values()) == {0}
    assert [call[0] for call in cloud.log(instance).calls] == ["mount", "mkfs.xfs", "mount"]


def test_a_type_without_instance_store_has_no_such_disk(start: Start, ssh: Ssh) -> None:
    _, address = start(parameters={"InstanceType": "c5.2xlarge"})
    assert ssh.run(address, "ls /dev/disk/by-id").returncode != 0


def test_a_small_disk_gets_full(start: Start, ssh: Ssh, cloud: Cloud) -> None:
    cloud.fault(SmallDisk(bytes=2**20, times=1))
    _, address = start(runcmd=["mkfs.xfs /dev/nvme1n1", "mkdir /data", "mount /dev/nvme1n1 /data", "chmod 1777 /data"])
    answer = ssh.run(address, "dd if=/dev/zero of=/data/file bs=1M count=4")
    assert answer.returncode == 1
    assert "No space left on device" in answer.stderr


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
    """A file where Plimsoll in containers keeps what it has, on the machine itself."""
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


def test_hosts_talk_to_each_other_and_to_the_cloud(start: Start, ssh: Ssh, cloud: Cloud) -> None:
    (_, one), (_, other) = start(), start()
    banner = f"exec 3<>/dev/tcp/{other}/22; head -c 8 <&3"
    assert ssh.run(one, f"bash -c '{banner}'").stdout == "SSH-2.0-"
    s3 = Aws(cloud.endpoint).client("s3", signature_version="s3v4")
    place = {"Bucket": cloud.landscape.bucket, "Key": "bundle"}
    s3.put_object(**place, Body=b"jars")
    url = s3.generate_presigned_url("get_object", place)
    fetch = f"import urllib.request as r; print(r.urlopen('{url}', timeout=30).read().decode())"
    assert ssh.run(one, f'/opt/test-cloud/python/bin/python3 -c "{fetch}"').stdout == "jars\n"


def test_a_cut_link_is_silent_until_it_is_healed(start: Start, ssh: Ssh, cloud: Cloud) -> None:
    (cut, one), (_, other) = start(), start()
    cloud.host(cut).cut()
    answer = ssh.run(one, "true", timeout=2)
    assert (answer.returncode, "timed out" in answer.stderr) == (255, True), answer.stderr
    reach = f"bash -c 'exec 3<>/dev/tcp/{one}/22'"
    assert ssh.run(other, f"timeout 2 {reach}").returncode not in (0, 255)
    cloud.host(cut).heal()
    assert ssh.run(one, "echo back").stdout == "back\n"
    # A host that asked in vain where the other is answers "no route" until it has asked again, a second later.
    eventually(lambda: ssh.run(other, f"timeout 60 {reach}").returncode == 0)


def test_a_frozen_host_does_nothing_until_it_is_thawed(start: Start, ssh: Ssh, cloud: Cloud) -> None:
    instance, address = start(runcmd=["(while :; do date +%s%N > /run/alive; sleep 0.05; done) >/dev/null 2>&1 &"])
    host = cloud.host(instance)
    alive = host.path("/run/alive")
    eventually(alive.exists)
    host.freeze()
    seen = alive.read_text()
    answer = ssh.run(address, "true", timeout=2)
    assert (answer.returncode, "timed out" in answer.stderr) == (255, True), answer.stderr
    assert alive.read_text() == seen
    host.thaw()
    eventually(lambda: alive.read_text() not in (seen, ""))
    assert ssh.run(address, "echo back").stdout == "back\n"


def test_a_host_that_starts_programs_all_the_time_can_be_frozen(start: Start, cloud: Cloud) -> None:
    instance, _ = start(runcmd=["for _ in 1 2; do (while :; do /bin/true; done) >/dev/null 2>&1 & done"])
    host = cloud.host(instance)
    for _ in range(200):
        host.freeze()
        host.thaw()


def test_shutdown_from_inside_terminates(start: Start, ssh: Ssh, ec2: Any) -> None:
    instance, address = start(parameters={"InstanceInitiatedShutdownBehavior": "terminate"})
    ssh.run(address, "sudo shutdown -h now")
    eventually(lambda: state(ec2, instance) == "terminated")
    assert described(ec2, instance)["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"


def test_shutdown_from_inside_only_stops_where_nobody_said_terminate(start: Start, ssh: Ssh, ec2: Any) -> None:
    instance, address = start()
    ssh.run(address, "sudo shutdown -h now")
    eventually(lambda: state(ec2, instance) == "stopped")


@pytest.mark.parametrize(
    "switch",
    [
        ["shutdown -h +60"],
        ["systemd-run --unit=expiry --on-active=1h shutdown -h now"],
        ["systemctl daemon-reload", "systemctl enable --now expiry.timer"],
    ],
)
def test_a_dead_mans_switch_works_when_its_time_comes(start: Start, ec2: Any, cloud: Cloud, switch: list[str]) -> None:
    units = [
        {"path": "/etc/systemd/system/expiry.timer", "content": "[Timer]\nOnActiveSec=1h\n"},
        {"path": "/etc/systemd/system/expiry.service", "content": "[Service]\nExecStart=/usr/sbin/shutdown -h now\n"},
    ]
    terminate = {"InstanceInitiatedShutdownBehavior": "terminate"}
    instance, _ = start(runcmd=switch, write_files=units, parameters=terminate)
    cloud.skip(3500)
    assert state(ec2, instance) == "running"
    cloud.skip(200)
    eventually(lambda: state(ec2, instance) == "terminated")


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


def test_a_frozen_host_can_be_terminated(start: Start, ec2: Any, cloud: Cloud) -> None:
    instance, _ = start()
    host: Any = cloud.host(instance)
    host.freeze()
    ec2.terminate_instances(InstanceIds=[instance])
    eventually(lambda: state(ec2, instance) == "terminated")
    assert not host.folder.exists()


def test_a_host_that_does_not_boot_is_silent(ec2: Any, ssh: Ssh, cloud: Cloud) -> None:
    cloud.fault(NoBoot(times=1))
    (instance,) = launch(ec2, cloud)
    eventually(lambda: state(ec2, instance) == "running")
    with pytest.raises(LookupError):
        cloud.host(instance)
    assert ssh.run(described(ec2, instance)["PrivateIpAddress"], "true", timeout=1).returncode == 255


def test_limits_of_the_user_data_hold_for_logins(start: Start, ssh: Ssh) -> None:
    limits = {"path": "/etc/security/limits.d/test.conf", "content": "* - nofile 4321\n"}
    _, address = start(write_files=[limits])
    assert ssh.run(address, "ulimit -n").stdout == "4321\n"


def test_the_cloud_is_reached_over_its_own_address_only(cloud: Cloud) -> None:
    with urllib.request.urlopen(f"{cloud.endpoint}/_cloud/landscape", timeout=30) as answer:
        assert json.load(answer)["mode"] == "namespaces"
    port = int(cloud.endpoint.rpartition(":")[2])
    listening = {
        each.laddr.ip
        for each in psutil.Process().net_connections()
        if each.status == "LISTEN" and each.laddr.port == port
    }
    assert listening == {cloud.endpoint.split("//")[1].split(":")[0]}
