"""Credentials that are rotated under a process that lives on reach every client that it keeps."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import pytest
from botocore.config import Config
from tests.cloud.cloud import REGION, Cloud, running_cloud
from tests.cloud.faults import OnlyKey
from tests.support.processes import PATIENCE_S

from plimsoll.adapters import aws
from plimsoll.adapters.aws import new_session
from plimsoll.adapters.providers.ec2.cloud import Cloud as Ec2Cloud
from plimsoll.adapters.providers.ec2.cloud import CloudRegion
from plimsoll.adapters.stores.s3_store import S3Store
from plimsoll.domain.text.errors import PlimsollError
from plimsoll.ports.secrets import AwsAccess, SshIdentity

OLD, NEW = "AKIAOLD", "AKIANEW"


@dataclass
class Rotated:
    """Implements the Secrets port; `key` is the access key that the connection holds now."""

    endpoint: str
    key: str = OLD
    made: list[str] = field(default_factory=list)

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        raise NotImplementedError

    def aws(self, connection_id: str) -> AwsAccess:
        return AwsAccess(self.client)

    def client(self, service: str, region: str | None = None) -> Any:
        self.made.append(service)
        session: Any = new_session(aws_access_key_id=self.key, aws_secret_access_key="secret")
        return session.client(
            service,
            region_name=region or REGION,
            endpoint_url=self.endpoint,
            config=Config(retries={"mode": "standard", "total_max_attempts": 2}),
        )


@pytest.fixture(scope="module")
def running() -> Iterator[Cloud]:
    with running_cloud("instant") as cloud:
        yield cloud


@pytest.fixture
def cloud(running: Cloud) -> Iterator[Cloud]:
    yield running
    running.clear()


@pytest.fixture
def secrets(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Rotated:
    monkeypatch.setattr(aws, "YOUNG_S", 0.0)  # nobody need wait until a client is old enough
    return Rotated(cloud.endpoint)


@pytest.fixture
def store(secrets: Rotated, cloud: Cloud) -> S3Store:
    made = S3Store(f"s3://{cloud.landscape.bucket}/runs", lambda: secrets.client("s3"))
    made.write("a", b"before")
    return made


def rotate(secrets: Rotated, cloud: Cloud) -> None:
    secrets.key = NEW
    cloud.fault(OnlyKey(access_key=NEW))


USES: dict[str, Callable[[S3Store], object]] = {
    "read": lambda store: store.read("a"),
    "write": lambda store: store.write("b", b"x"),
    "create": lambda store: store.create("c", b"x"),
    "exists": lambda store: store.exists("a"),
    "keys": lambda store: list(store.keys("")),
    "folders": lambda store: store.folders(""),
    "delete": lambda store: store.delete("b"),
    "stored": lambda store: store.stored("a"),
}


@pytest.mark.parametrize("use", USES)
def test_the_store_goes_on_with_rotated_credentials(store: S3Store, secrets: Rotated, cloud: Cloud, use: str) -> None:
    rotate(secrets, cloud)
    USES[use](store)
    assert secrets.made == ["s3", "s3"]
    assert store.read("a") == b"before"
    assert secrets.made == ["s3", "s3"], "one new client is enough"


def test_an_upload_in_parts_goes_on(store: S3Store, secrets: Rotated, cloud: Cloud, tmp_path: Any) -> None:
    (tmp_path / "big").write_bytes(bytes(20 << 20))
    rotate(secrets, cloud)
    assert store.upload("big", tmp_path / "big").size_bytes == 20 << 20


def test_urls_are_signed_with_the_credentials_of_now(
    store: S3Store, secrets: Rotated, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aws, "RECENT_S", 0.0)
    rotate(secrets, cloud)
    assert httpx.get(store.download_url("a", timedelta(minutes=5)), timeout=PATIENCE_S).content == b"before"


def test_the_cloud_goes_on_with_rotated_credentials(secrets: Rotated, cloud: Cloud) -> None:
    place = Ec2Cloud(secrets, CloudRegion("aws_default", REGION))
    place.call("describe_availability_zones")
    rotate(secrets, cloud)
    assert place.call("describe_availability_zones")["AvailabilityZones"]
    assert place.instances([]) == []
    assert secrets.made == ["ec2", "ec2"]


def test_credentials_that_stay_refused_are_said_without_the_secret(
    store: S3Store, secrets: Rotated, cloud: Cloud
) -> None:
    cloud.fault(OnlyKey(access_key=NEW))
    with pytest.raises(PlimsollError, match="renew the credentials of the store's connection") as caught:
        store.read("a")
    assert "secret" not in str(caught.value)
    with pytest.raises(PlimsollError, match=r"renew the connection's temporary credentials|set this machine's clock"):
        Ec2Cloud(secrets, CloudRegion("aws_default", REGION)).call("describe_availability_zones")
