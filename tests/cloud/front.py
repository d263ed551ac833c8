"""The cloud's front door: what is in moto's way, and what moto never sees."""

import json
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

from tests.cloud.answers import denied, expired, refusal, throttled
from tests.cloud.calls import Call, call_of
from tests.cloud.catalogue import get_products, get_service_quota
from tests.cloud.faults import Deny, LoseAnswer, OnlyKey, Throttle, VcpuLimit
from tests.cloud.lag import Lag, past
from tests.cloud.lifecycle import Lifecycle
from tests.cloud.turns import InTurn, Wsgi
from werkzeug.wrappers import Response

_QUOTA = 100_000


class Front:
    """A WSGI application. `/_cloud/…` goes to `admin`, all else to AWS's services."""

    def __init__(self, services: Wsgi, admin: Wsgi, lifecycle: Lifecycle, lag: Lag) -> None:
        self._services, self._admin, self._lifecycle, self._lag = InTurn(services), admin, lifecycle, lag

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer, refuse, or drop the connection when the work is done."""
        if environ.get("PATH_INFO", "").startswith("/_cloud/"):
            return self._admin(environ, start_response)
        call = call_of(environ)
        answer = self._refusal(call) or self._own(call)
        if answer is not None:
            return answer(environ, start_response)
        with self._lifecycle.lock if call.service == "ec2" else nullcontext():
            self._lifecycle.tick()
            is_lost = self._lifecycle.faults.on(LoseAnswer, call.action)
            with past(self._lifecycle, self._lag, call.action) if call.service == "ec2" else nullcontext():
                if is_lost:
                    self._lose(environ)
                return self._services(environ, start_response)

    def _refusal(self, call: Call) -> Response | None:
        faults = self._lifecycle.faults
        if faults.on(Throttle, call.action):
            return throttled(call.service)
        if faults.on(Deny, call.action):
            return denied(call.service, call.action)
        if any(fault.access_key != call.access_key for fault in faults.of(OnlyKey)):
            return expired(call.service)
        if not call.signed:
            return refusal("s3", "AccessDenied", "Access Denied")
        if call.expired:
            return refusal("s3", "AccessDenied", "Request has expired")
        return None

    def _own(self, call: Call) -> Response | None:
        if call.service == "pricing" and call.action == "GetProducts":
            return get_products(json.loads(call.body))
        if call.service == "servicequotas" and call.action == "GetServiceQuota":
            limits = [fault.vcpus for fault in self._lifecycle.faults.of(VcpuLimit)]
            return get_service_quota(json.loads(call.body), min(limits, default=_QUOTA))
        return None

    def _lose(self, environ: dict[str, Any]) -> None:
        """Let the work be done, and the caller find the connection closed: the server drops it on this error."""
        for _ in self._services(environ, lambda *_: lambda _: None):
            pass
        raise ConnectionResetError("the answer is lost, as a fault asked for")
