"""A test cloud, and what tests of it need: AWS clients and an ssh command."""

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from tests.cloud.cloud import REGION, Cloud, running_cloud
from tests.support.suite.requirements import require_namespaces


@dataclass(frozen=True)
class Aws:
    """Clients that do not retry, so that every answer is seen."""

    endpoint: str

    def client(self, service: str, **config: Any) -> Any:
        """A plain boto3 client."""
        settings = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20, **config)
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            config=settings,
        )


@pytest.fixture
def instant() -> Iterator[Cloud]:
    """Without hosts, with a time that only tests move."""
    with running_cloud("instant", manual=True) as cloud:
        yield cloud


@pytest.fixture
def ec2(instant: Cloud) -> Any:
    """EC2 of the instant cloud."""
    return Aws(instant.endpoint).client("ec2")


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    """With hosts in namespaces, in real time."""
    require_namespaces()
    with running_cloud("namespaces") as cloud:
        yield cloud


def launch(ec2: Any, cloud: Cloud, **parameters: Any) -> list[str]:
    """Ids of instances, launched in the first subnet."""
    given = {
        "ImageId": cloud.landscape.image,
        "InstanceType": "r5d.2xlarge",
        "MinCount": 1,
        "MaxCount": 1,
        "SubnetId": next(iter(cloud.landscape.subnets.values())),
        "SecurityGroupIds": [cloud.landscape.security_group],
        **parameters,
    }
    return [one["InstanceId"] for one in ec2.run_instances(**given)["Instances"]]


def state(ec2: Any, instance_id: str) -> str:
    """As EC2 describes it."""
    return str(described(ec2, instance_id)["State"]["Name"])


def described(ec2: Any, instance_id: str) -> Any:
    """The one instance."""
    return ec2.describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"][0]


def eventually(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """The first true answer."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.05)
    return answer


@dataclass(frozen=True)
class Ssh:
    """The ssh command with a key and the host key that is expected."""

    key: Path
    known_hosts: Path

    @property
    def public(self) -> str:
        """For `authorized_keys`."""
        return self.key.with_suffix(".pub").read_text().strip()

    def trust(self, address: str, host_key: str) -> None:
        """Expect that key there, and no other."""
        with self.known_hosts.open("a") as file:
            file.write(f"{address} {' '.join(host_key.split()[:2])}\n")

    def run(
        self, address: str, command: str, *, user: str = "ec2-user", port: int = 22, timeout: int = 5
    ) -> "subprocess.CompletedProcess[str]":
        """Exit code 255: ssh itself failed."""
        options = (
            "StrictHostKeyChecking=yes",
            f"UserKnownHostsFile={self.known_hosts}",
            "BatchMode=yes",
            f"Port={port}",
            f"ConnectTimeout={timeout}",
        )
        argv = [
            "ssh",
            "-F",
            "none",
            "-i",
            str(self.key),
            *(part for each in options for part in ("-o", each)),
            f"{user}@{address}",
            command,
        ]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)


def keygen(place: Path) -> Path:
    """A key pair at that place."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(place)], check=True)
    return place


@pytest.fixture
def ssh(tmp_path: Path) -> Ssh:
    """A new key, no host known."""
    return Ssh(keygen(tmp_path / "id"), tmp_path / "known_hosts")
