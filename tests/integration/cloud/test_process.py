"""The test cloud as a process of its own, and what is left after one that crashed."""

import os
import signal
from pathlib import Path
from typing import Any

import boto3
import httpx
import psutil
import pytest
from tests.cloud import slots
from tests.cloud.client import CloudClient
from tests.cloud.faults import NoCapacity
from tests.cloud.process import cloud_process
from tests.support.cloud.clients import eventually
from tests.support.suite.requirements import require_namespaces


def client(about: dict[str, Any], service: str) -> Any:
    """From the variables that the process printed, as any other AWS client would take them."""
    variables = about["environment"]
    session: Any = boto3.session.Session()
    return session.client(
        service,
        endpoint_url=variables["AWS_ENDPOINT_URL"],
        region_name=variables["AWS_DEFAULT_REGION"],
        aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
    )


def launch(about: dict[str, Any]) -> str:
    landscape = about["landscape"]
    subnet = landscape["subnets"]["us-east-1a"]
    answer = client(about, "ec2").run_instances(
        ImageId=landscape["image"], InstanceType="m5.large", MinCount=1, MaxCount=1, SubnetId=subnet
    )
    return str(answer["Instances"][0]["InstanceId"])


def test_other_processes_steer_it_over_http() -> None:
    with cloud_process("--mode", "instant", "--manual") as running:
        cloud, about = running.control, running.about
        number = cloud.fault(NoCapacity(zone="us-east-1a"))
        with pytest.raises(client(about, "ec2").exceptions.ClientError, match="InsufficientInstanceCapacity"):
            launch(about)
        cloud.clear(number)
        instance = launch(about)
        cloud.skip(1)
        assert cloud.summary()["alive"] == 1
        assert cloud.leftovers()["instances"] == [instance]
        cloud.kill(instance)
        assert [entry["why"] for entry in cloud.instances()] == ["Server.InternalError"]
        assert cloud.leftovers()["instances"] == []
        assert cloud.landscape()["bucket"] == about["landscape"]["bucket"]
        assert running.end() == 0


def test_a_wrong_order_is_refused_with_its_reason() -> None:
    wrong = (("faults", {"kind": "Flood"}, 400), ("instances/i-1/freeze", None, 404), ("nothing", None, 404))
    with cloud_process("--mode", "instant") as running:
        for path, body, status in (*wrong, ("skip", {"x": 1}, 400)):
            answer = httpx.post(f"{running.about['endpoint']}/_cloud/{path}", json=body, trust_env=False)
            assert answer.status_code == status
            assert answer.json()["error"]


@pytest.fixture
def needs_namespaces() -> None:
    require_namespaces()


def folder_of(instance: str) -> Path:
    return next(Path(slots._base()).glob(f"*/{instance}"))


@pytest.mark.usefixtures("needs_namespaces")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_cloud_that_was_ended(number: int) -> None:
    with cloud_process() as running:
        about, instance = running.about, launch(running.about)
        eventually(lambda: any(event["event"] == "ssh" for event in events(about, instance)))
        folder = folder_of(instance)
        hosts = list(slots.processes(folder))
        assert hosts
        os.kill(running.process.pid, number)
        running.process.wait(timeout=20)
        eventually(lambda: not any(host.is_running() and host.status() != psutil.STATUS_ZOMBIE for host in hosts))
    with slots.held():
        assert not folder.exists()
    assert slots.links(slots.Slot(int(folder.parent.name), folder.parent)) == []


@pytest.mark.usefixtures("needs_namespaces")
def test_frozen_hosts_of_a_crashed_cloud_are_swept_by_the_next() -> None:
    with cloud_process() as running:
        about, instance = running.about, launch(running.about)
        eventually(lambda: any(event["event"] == "ssh" for event in events(about, instance)))
        CloudClient(about["endpoint"]).freeze(instance)
        hosts = list(slots.processes(folder_of(instance)))
        for one in hosts:
            one.suspend()
        running.process.kill()
        running.process.wait(timeout=20)
        assert any(host.is_running() for host in hosts)
    with slots.held():
        assert not any(host.is_running() and host.status() != psutil.STATUS_ZOMBIE for host in hosts)


@pytest.mark.usefixtures("needs_namespaces")
def test_clouds_of_several_processes_do_not_disturb_each_other() -> None:
    with cloud_process() as first_cloud, cloud_process() as second_cloud:
        one, other = first_cloud.about, second_cloud.about
        assert one["endpoint"].split(":")[1] != other["endpoint"].split(":")[1]
        first, second = launch(one), launch(other)
        assert CloudClient(one["endpoint"]).leftovers()["instances"] == [first]
        assert CloudClient(other["endpoint"]).leftovers()["instances"] == [second]


def events(about: dict[str, Any], instance: str) -> list[dict[str, Any]]:
    try:
        return CloudClient(about["endpoint"]).events(instance)
    except httpx.HTTPStatusError:
        return []
