from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.fakes.clock import SteppingClock
from tests.unit.adapters.ec2.fake_cloud import FakeCloud, Records

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.providers.ec2.cloud import CloudRegion
from plimsoll.adapters.providers.ec2.instance_types import Image, InstanceStore
from plimsoll.adapters.providers.ec2.launch_plan import LaunchPlan
from plimsoll.adapters.providers.ec2.launched import Launched
from plimsoll.adapters.providers.ec2.launching import Launcher
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.adapters.providers.ec2.options import ROLES, Ec2Options
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.ports.provider import Places
from plimsoll.ports.secrets import SshIdentity

EXPIRES = datetime(2026, 1, 31, 15, 0, tzinfo=UTC)


@pytest.fixture
def key() -> Any:
    return ClusterId(campaign_id="azul-1", name="g1-040k-r3/2")


@pytest.fixture
def raw_options() -> Any:
    return {
        "region": "us-east-1",
        "subnets": ["subnet-a", "subnet-b"],
        "security_group": "sg-1",
        "image": "ami-123",
        "instance_types": {"node": "r5d.2xlarge", "load": "c5.2xlarge"},
    }


@pytest.fixture
def options(raw_options: Any) -> Any:
    return Ec2Options.model_validate(raw_options)


@pytest.fixture
def identity() -> Any:
    private = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    return SshIdentity("bench", private.decode())


@pytest.fixture
def subnet() -> Any:
    return Subnet("subnet-a", "us-east-1a", "vpc-1", 100)


@pytest.fixture
def wanted(key: Any, options: Any) -> Any:
    return LaunchPlan(
        id=key,
        owner="airflow:run#0@here",
        store="s3://results/runs",
        nodes=3,
        load_hosts=1,
        expires=EXPIRES,
        ends=EXPIRES,
        options=options,
        image=Image("ami-123", "x86_64", "/dev/xvda"),
        security_group="sg-1",
        user_data=dict.fromkeys(ROLES, "#cloud-config\n{}\n"),
        disks=dict.fromkeys(ROLES, InstanceStore()),
        usd_per_hour={"node": 0.576, "load": None},
    )


@pytest.fixture
def east(clock: SteppingClock) -> FakeCloud:
    return FakeCloud(clock)


@pytest.fixture
def west(clock: SteppingClock) -> FakeCloud:
    """Where another definition has its clusters, through another connection."""
    return FakeCloud(clock, place=CloudRegion("aws_west", "eu-west-1"))


@pytest.fixture
def records() -> Records:
    return Records()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def provider(east: Any, west: Any, clock: Any, records: Any, said: list[str], raw_options: Any) -> Ec2Provider:
    """Looks into both places, the other one first."""
    there = {**raw_options, "connection": "aws_west", "region": "eu-west-1"}
    secrets: Any = None
    connect: Any = None
    return Ec2Provider(
        secrets=secrets,
        clock=clock,
        connect=connect,
        store="s3://results/runs",
        log=said.append,
        launches=records,
        places=Places((there, raw_options)),
        clouds={east.place: east, west.place: west},
    )


@pytest.fixture
def launcher(east: Any, clock: Any, records: Any, wanted: Any) -> Launcher:
    return Launcher(east, clock, wanted, Launched.read(records, wanted.id, east.place, clock))
