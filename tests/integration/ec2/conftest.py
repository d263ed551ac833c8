"""EC2, SSM and S3 by moto over HTTP on a loopback address; hosts that answer without being there."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import boto3
import httpx
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ReadTimeoutError
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from moto.server import ThreadedMotoServer
from tests.fakes.clock import BEGAN, SteppingClock
from tests.integration.ec2 import placement_groups

from plimsoll.adapters.ec2 import Ec2Provider
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import ClusterRequest, HostInfo
from plimsoll.domain.errors import HostError, NotFound
from plimsoll.ports.secrets import AwsAccess, SshIdentity

REGION = "us-east-1"
STORE = "s3://results/runs"


@dataclass
class Account:
    """Implements the Secrets port on moto; notes every call, and answers those of `faults` with an error instead.

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
    """Answers to operations that moto does not know."""

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
            return AWSResponse(request.url, status, {}, _Body(body))

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


@pytest.fixture(scope="session")
def moto() -> Iterator[tuple[str, dict[str, Any]]]:
    groups: dict[str, Any] = {}
    placement_groups.install(groups)
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # else a line a request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}", groups
    server.stop()


@pytest.fixture
def account(moto: tuple[str, dict[str, Any]], identity: SshIdentity, session: Any) -> Account:
    """An account with nothing in it but what every account has, and a security group as docs/aws.md makes it."""
    endpoint, groups = moto
    groups.clear()
    httpx.post(f"{endpoint}/moto-api/reset").raise_for_status()
    made = Account(endpoint, identity, session)
    make_security_group(made.client("ec2", REGION))
    made.answers["GetProducts"] = {"PriceList": []}  # prices are the table's
    made.calls.clear()
    return made


def make_security_group(ec2: Any) -> str:
    vpc = ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"][0]["VpcId"]
    group = ec2.create_security_group(GroupName="plimsoll", Description="Benchmark hosts", VpcId=vpc)["GroupId"]
    inside = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    ssh = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.1.2.3/32"}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[inside, ssh])
    return group


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def options() -> dict[str, Any]:
    return {
        "region": REGION,
        "zones": ["us-east-1a", "us-east-1b"],
        "security_group": "plimsoll",
        "image": "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64",
        "instance_types": {"node": "r5d.2xlarge", "load": "c5.2xlarge"},
    }


@pytest.fixture
def hosts() -> dict[str, Any]:
    """What each host says of itself, by name; all are prepared."""
    return {}


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def provider(
    account: Account, options: dict[str, Any], clock: SteppingClock, hosts: dict[str, Any], said: list[str]
) -> Ec2Provider:
    def connect(key: AttemptKey, info: HostInfo, target: Any) -> Any:
        return FakeHost(info, hosts.get(info.name, ["ok"]))

    return Ec2Provider(
        secrets=account, options=Options(options), clock=clock, connect=connect, store=STORE, say=said.append
    )


@pytest.fixture
def ask(options: dict[str, Any]) -> Callable[..., ClusterRequest]:
    def request(cell_id: str = "g1-040k-r3", attempt: int = 1, **changes: Any) -> ClusterRequest:
        return ClusterRequest(
            key=AttemptKey(campaign_id="azul", cell_id=cell_id, attempt=attempt),
            owner="airflow:azul__g1-040k-r3#0",
            nodes=3,
            expires_at=BEGAN + timedelta(hours=3),
            options={**options, **changes},
        )

    return request
