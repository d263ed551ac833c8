"""An account of the test cloud that notes every call and answers some of them otherwise than the cloud would."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.config import Config
from botocore.exceptions import ReadTimeoutError
from tests.cloud.cloud import REGION

from plimsoll.ports.secrets import AwsAccess, SshIdentity


@dataclass
class WatchedAccount:
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
    """Answers to operations that no fault strikes, instead of the cloud's."""
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
        if code:
            return _refusal(code)
        return (_response(200), self.answers[model.name]) if model.name in self.answers else None

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
