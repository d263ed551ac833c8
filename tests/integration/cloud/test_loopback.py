"""Hosts on loopback addresses, as an ordinary user has them."""

import getpass
import json
from pathlib import Path

from tests.cloud.cloud import running_cloud
from tests.support.cloud.clients import Aws, described, eventually, launch, state
from tests.support.ssh.command import Ssh, keygen


def test_a_host_on_a_loopback_address_answers_with_its_key(ssh: Ssh, tmp_path: Path) -> None:
    key = keygen(tmp_path / "host_key")
    public = key.with_suffix(".pub").read_text()
    config = {
        "ssh_keys": {"ed25519_private": key.read_text(), "ed25519_public": public},
        "ssh_authorized_keys": [ssh.public],
        "write_files": [{"path": "/etc/plimsoll", "content": "hello"}],
        "runcmd": ["rm -rf /etc/plimsoll"],
    }
    with running_cloud("loopback") as cloud:
        ec2 = Aws(cloud.endpoint).client("ec2")
        (instance,) = launch(ec2, cloud, UserData=f"#cloud-config\n{json.dumps(config)}")
        eventually(lambda: state(ec2, instance) == "running" and cloud.log(instance).ready)
        address = described(ec2, instance)["PrivateIpAddress"]
        assert address.startswith("127.2")
        ssh.trust(address, public)
        assert ssh.run(address, "echo hello", user=getpass.getuser(), port=cloud.ssh_port).stdout == "hello\n"
        host = cloud.host(instance)
        assert host.path("/etc/plimsoll").read_text() == "hello"
        assert [event["command"] for event in host.log.of("noted")] == ["rm -rf /etc/plimsoll"]
        host.freeze()
        assert ssh.run(address, "true", user=getpass.getuser(), port=cloud.ssh_port, timeout=2).returncode == 255
        host.thaw()
        ec2.terminate_instances(InstanceIds=[instance])
        eventually(lambda: state(ec2, instance) == "terminated")
        assert cloud.nothing_left()
        assert ssh.run(address, "true", user=getpass.getuser(), port=cloud.ssh_port, timeout=2).returncode == 255
