"""A test cloud without hosts, and hosts that answer without being there."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.cloud.cloud import Cloud, running_cloud
from tests.cloud.lifecycle import Delays
from tests.fakes.clock import BEGAN, SteppingClock
from tests.integration.ec2.campaign import GROUP, STORE, FakeHost
from tests.integration.ec2.watched_account import WatchedAccount
from tests.support.campaigns.ec2_definition import ec2_options

from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.ports.provider import Places
from plimsoll.ports.secrets import SshIdentity
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.retries import Outage


@pytest.fixture(scope="session")
def identity() -> SshIdentity:
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    return SshIdentity("", key.decode())


@pytest.fixture(scope="session")
def session() -> Any:
    """Provide one session for all tests: it keeps what clients are made of."""
    return boto3.session.Session()


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """Nothing in it but what every account has, and a security group as docs/guides/aws.md makes it."""
    with running_cloud("instant", delays=Delays(pending=0, status=0, shutting_down=0)) as cloud:
        yield cloud


@pytest.fixture
def account(cloud: Cloud, identity: SshIdentity, session: Any) -> WatchedAccount:
    made = WatchedAccount(cloud.endpoint, identity, session)
    made.answers["GetProducts"] = {"PriceList": []}  # prices are the table's
    return made


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def options(cloud: Cloud) -> dict[str, Any]:
    return ec2_options(cloud.landscape, subnets=None, zones=["us-east-1a", "us-east-1b"], security_group=GROUP)


@pytest.fixture
def hosts() -> dict[str, Any]:
    """What each host says of itself, by name; all are prepared."""
    return {}


@pytest.fixture
def said(account: WatchedAccount) -> list[str]:
    """What the provider tells."""
    return account.said


@pytest.fixture
def connect(hosts: dict[str, Any]) -> Any:
    """Hosts that say what the test tells them to."""
    return lambda _key, info, _target: FakeHost(info, hosts.get(info.name, ["ok"]))


@pytest.fixture
def records(tmp_path: Path, clock: SteppingClock) -> StoredLaunches:
    """What was launched, in a store of its own."""
    return StoredLaunches(ObjectStore(str(tmp_path / "records")), Outage(clock))


@pytest.fixture
def provider(
    account: WatchedAccount, options: dict[str, Any], clock: SteppingClock, connect: Any, records: StoredLaunches
) -> Ec2Provider:
    return Ec2Provider(
        secrets=account,
        places=Places((options,)),
        clock=clock,
        connect=connect,
        store=STORE,
        log=account.said.append,
        launches=records,
    )


@pytest.fixture
def ask(options: dict[str, Any]) -> Callable[..., ClusterRequest]:
    def request(cell_id: str = "g1-040k-r3", attempt: int = 1, **changes: Any) -> ClusterRequest:
        return ClusterRequest(
            id=ClusterId(campaign_id="azul", name=f"{cell_id}/{attempt}"),
            owner="airflow:azul__g1-040k-r3#0@here",
            nodes=3,
            expires_at=BEGAN + timedelta(hours=3),
            options={**options, **changes},
        )

    return request
