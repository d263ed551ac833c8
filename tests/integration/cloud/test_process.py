"""The test cloud as a process of its own, and what is left after one that crashed."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import boto3
import psutil
import pytest
from tests.cloud import slots
from tests.cloud.process import cloud_process
from tests.support.cloud.clients import eventually
from tests.support.processes import PATIENCE_S
from tests.support.ssh.command import keygen
from tests.support.suite.requirements import require_namespaces


@pytest.fixture(autouse=True)
def _needs_namespaces() -> None:
    require_namespaces()


def launch(about: dict[str, Any], folder: Path) -> str:
    """Launch a host with an sshd, by the variables that the process printed, as any other AWS client would."""
    variables, landscape = about["environment"], about["landscape"]
    ec2 = boto3.session.Session().client(
        "ec2",
        endpoint_url=variables["AWS_ENDPOINT_URL"],
        region_name=variables["AWS_DEFAULT_REGION"],
        aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
    )
    key = keygen(folder / f"host_key_{about['endpoint'].rpartition(':')[2]}").read_text()
    answer = ec2.run_instances(
        ImageId=landscape["image"],
        InstanceType="m5.large",
        MinCount=1,
        MaxCount=1,
        SubnetId=landscape["subnets"]["us-east-1a"],
        UserData=f"#cloud-config\n{json.dumps({'ssh_keys': {'ed25519_private': key}})}",
    )
    return str(answer["Instances"][0]["InstanceId"])


def hosts_of(instance: str) -> list[psutil.Process]:
    """Return the processes of a host, once its sshd is among them."""

    def with_sshd() -> list[psutil.Process]:
        found = [process for folder in folders(instance) for process in slots.processes(folder)]
        with suppress(psutil.NoSuchProcess):  # hosts start and end programs all the time
            return found if any(process.name() == "sshd" for process in found) else []
        return []

    return list(eventually(with_sshd))


def folders(instance: str) -> list[Path]:
    return list(Path(slots._base()).glob(f"*/{instance}"))


def is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def test_nothing_is_left_of_a_cloud_that_was_ended(tmp_path: Path) -> None:
    with cloud_process() as running:
        instance = launch(running.about, tmp_path)
        hosts, [folder] = hosts_of(instance), folders(instance)
        running.process.terminate()
        running.process.wait(timeout=PATIENCE_S)
        eventually(lambda: not any(map(is_alive, hosts)))
    assert_swept(folder)


def test_frozen_hosts_of_a_crashed_cloud_are_swept_by_the_next(tmp_path: Path) -> None:
    with cloud_process() as running:
        instance = launch(running.about, tmp_path)
        hosts, [folder] = hosts_of(instance), folders(instance)
        for one in hosts:
            with suppress(psutil.NoSuchProcess):  # as in `hosts_of`
                one.suspend()
        running.process.kill()
        running.process.wait(timeout=PATIENCE_S)
        assert any(map(is_alive, hosts))
    assert_swept(folder)
    assert not any(map(is_alive, hosts))


def assert_swept(folder: Path) -> None:
    """Take a place as the next cloud does, after which nothing is left of the one before.

    Another test's cloud may have taken the very place, and swept it; then the bridge that is there is its own.
    """
    with slots.held() as place:
        assert not folder.exists()
        if place.number == int(folder.parent.name):
            assert slots.links(place) == []
