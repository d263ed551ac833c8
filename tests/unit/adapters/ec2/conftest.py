from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from plimsoll.adapters.ec2.images import Image
from plimsoll.adapters.ec2.network import Subnet
from plimsoll.adapters.ec2.options import Ec2Options
from plimsoll.adapters.ec2.requests import Wanted
from plimsoll.domain.cluster import ClusterId
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
    return Wanted(
        id=key,
        owner="airflow:run#0",
        store="s3://results/runs",
        nodes=3,
        load_hosts=1,
        expires=EXPIRES,
        options=options,
        image=Image("ami-123", "an image", "x86_64", "/dev/xvda"),
        security_group="sg-1",
        user_data="#cloud-config\n{}\n",
        usd_per_hour={"node": 0.576, "load": None},
    )
