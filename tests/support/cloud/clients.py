"""Plain clients of a test cloud, and what tests ask of EC2 by them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from tests.cloud.cloud import REGION, Cloud

_SESSION: Any = boto3.session.Session(aws_access_key_id="testing", aws_secret_access_key="testing")
"""One session for all clients. It keeps the descriptions of services, which take a third of a second to read."""


@dataclass(frozen=True)
class Aws:
    """Clients that do not retry, so that every answer is seen."""

    endpoint: str

    def client(self, service: str, **config: Any) -> Any:
        """Return a plain boto3 client."""
        settings = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20, **config)
        return _SESSION.client(service, endpoint_url=self.endpoint, region_name=REGION, config=settings)


def launch(ec2: Any, cloud: Cloud, **parameters: Any) -> list[str]:
    """Return ids of instances, launched in the first subnet."""
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
    """Return the instance's state as EC2 describes it."""
    return str(described(ec2, instance_id)["State"]["Name"])


def described(ec2: Any, instance_id: str) -> Any:
    """Return the one instance."""
    return ec2.describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"][0]


def eventually(condition: Callable[[], Any], seconds: float = 120) -> Any:
    """Return the first true answer."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.05)
    return answer
