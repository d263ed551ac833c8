"""A test cloud without hosts, and hosts that answer without being there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.config import Config
from botocore.exceptions import ReadTimeoutError
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.cloud.cloud import REGION, Cloud, running_cloud
from tests.cloud.lifecycle import Delays
from tests.fakes.clock import BEGAN, SteppingClock
from tests.support.campaigns.ec2_definition import ec2_options

from plimsoll.adapters.ec2 import Ec2Provider
from plimsoll.adapters.object_store import ObjectStore
from plimsoll.domain.cluster import ClusterId, ClusterRequest, HostInfo
from plimsoll.domain.errors import HostError, NotFound
from plimsoll.ports.secrets import AwsAccess, SshIdentity
from plimsoll.services.launches import StoredLaunches
from plimsoll.services.outage import Outage

STORE = "s3://results/runs"
GROUP = "plimsoll-hosts"
KEY = ClusterId(campaign_id="azul", name="g1-040k-r3/1")
"""What `ask` asks for by itself."""


@dataclass
class Account:
    """Implements the Secrets port on a test cloud; notes every call, answers those of `faults` with an error.

    `faults` maps an operation such as RunInstances to AWS's error codes, one for each of its next calls; an empty one
    lets it pass.
    """

    endpoint: str
    identity: SshIdentity
    session: Any
    calls: list[tuple[str, str]] = field(default_factory=list)
    faults: dict[str, list[str]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    """Operations whose next answer is lost after the work was done."""
    interceptors: list[tuple[str, Callable[..., Any]]] = field(default_factory=list)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Answers to operations, instead of the cloud's."""
    said: list[str] = field(default_factory=list)
    """What the provider on this account tells."""

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        return self.identity

    def aws(self, connection_id: str) -> AwsAccess:
        return AwsAccess(self.client)

    def client(self, service: str, region: str | None) -> Any:
        made = self.session.client(
            service,
            region_name=region or REGION,
            endpoint_url=self.endpoint,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"mode": "standard", "total_max_attempts": 3}, read_timeout=10),
        )
        made.meta.events.register("before-call", self._note)
        made.meta.events.register("after-call", self._lose)
        made.meta.events.register("before-send", self._intercept)
        return made

    def refuse_nth(self, operation: str, number: int, code: str) -> None:
        """Let calls before that one pass."""
        self.faults[operation] = [""] * (number - 1) + [code]

    @contextmanager
    def answering(self, operation: str, code: str, status: int, times: int) -> Iterator[None]:
        """Answer the next requests for an operation with EC2's own error, as HTTP has it; clients may send again."""
        error = f"<Error><Code>{code}</Code><Message>no</Message></Error>"
        body = f"<Response><Errors>{error}</Errors></Response>".encode()
        left = [times]

        def answer(request: Any, **_: Any) -> Any:
            if not left[0]:
                return None
            left[0] -= 1
            return AWSResponse(request.url, status, HTTPHeaders(), _Body(body))

        self.interceptors.append((f"before-send.ec2.{operation}", answer))
        yield
        self.interceptors.clear()
        assert not left[0], "too few were sent"

    def called(self, operation: str) -> int:
        return sum(name == operation for _, name in self.calls)

    def _note(self, model: Any, params: Mapping[str, Any], **_: Any) -> Any:
        self.calls.append((model.service_model.service_name, model.name))
        codes = self.faults.get(model.name)
        code = codes.pop(0) if codes else ""
        if model.name in self.answers:
            return _response(200), self.answers[model.name]
        return _refusal(code) if code else None

    def _intercept(self, request: Any, event_name: str, **_: Any) -> Any:
        answers = (answer(request) for name, answer in self.interceptors if name == event_name)
        return next((found for found in answers if found), None)

    def _lose(self, model: Any, **_: Any) -> None:
        if model.name in self.lost:
            self.lost.remove(model.name)
            raise ReadTimeoutError(endpoint_url=self.endpoint)


def _refusal(code: str) -> tuple[Any, dict[str, Any]]:
    return _response(400), {"Error": {"Code": code, "Message": f"told to say {code}"}, "ResponseMetadata": {}}


class _Body:
    """What botocore reads an answer from."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._content


def _response(status: int) -> Any:
    return SimpleNamespace(status_code=status, headers={})


class FakeHost:
    """A host that says it is prepared, or whatever it is told to."""

    def __init__(self, info: HostInfo, said: Sequence[Any]) -> None:
        self.info = info
        self._said = list(said)

    def read_tail(self, path: Any, *, max_bytes: int) -> str:
        said = self._said.pop(0) if len(self._said) > 1 else self._said[0]
        if isinstance(said, HostError):
            raise said
        return said


class Options:
    """Implements the ProviderOptions port: one campaign."""

    def __init__(self, options: Mapping[str, object]) -> None:
        self.options = dict(options)

    def of_campaign(self, campaign_id: str) -> Mapping[str, object]:
        if campaign_id != "azul":
            raise NotFound("there is no such campaign", where=campaign_id)
        return self.options

    def known(self, provider: str) -> Sequence[Mapping[str, object]]:
        return [self.options]


@pytest.fixture(scope="session")
def identity() -> SshIdentity:
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    return SshIdentity("", key.decode())


@pytest.fixture(scope="session")
def session() -> Any:
    """One for all: it keeps what clients are made of."""
    return boto3.session.Session()


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """Nothing in it but what every account has, and a security group as docs/aws.md makes it."""
    with running_cloud("instant", delays=Delays(pending=0, status=0, shutting_down=0)) as cloud:
        yield cloud


@pytest.fixture
def account(cloud: Cloud, identity: SshIdentity, session: Any) -> Account:
    made = Account(cloud.endpoint, identity, session)
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
def said(account: Account) -> list[str]:
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
    account: Account, options: dict[str, Any], clock: SteppingClock, connect: Any, records: StoredLaunches
) -> Ec2Provider:
    return Ec2Provider(
        secrets=account,
        options=Options(options),
        clock=clock,
        connect=connect,
        store=STORE,
        say=account.said.append,
        launches=records,
    )


@pytest.fixture
def ask(options: dict[str, Any]) -> Callable[..., ClusterRequest]:
    def request(cell_id: str = "g1-040k-r3", attempt: int = 1, **changes: Any) -> ClusterRequest:
        return ClusterRequest(
            id=ClusterId(campaign_id="azul", name=f"{cell_id}/{attempt}"),
            owner="airflow:azul__g1-040k-r3#0",
            nodes=3,
            expires_at=BEGAN + timedelta(hours=3),
            options={**options, **changes},
        )

    return request
