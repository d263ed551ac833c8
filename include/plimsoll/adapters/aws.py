"""Sessions of AWS's API that share what botocore has read, and clients that outlive their credentials: renewed
when these are refused, and regularly in any case.

botocore keeps the descriptions of AWS's services in each session. To find and parse that of EC2 takes a third of a
second of processor time, which a client in a new session would take again.
"""

import os
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from boto3.session import Session
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.loaders import create_loader
from botocore.session import get_session


def client_config(**more: Any) -> Config:
    """Return the time limits and retries of every client, with further settings of botocore's."""
    retries: Any = {"mode": "standard", "total_max_attempts": 8}
    return Config(connect_timeout=10, read_timeout=60, retries=retries, **more)


def new_session(**arguments: Any) -> Session:
    """Return a session with the arguments of `boto3.session.Session`. It shares neither credentials nor clients."""
    inner = get_session()
    if profile := arguments.pop("profile_name", None):  # boto3 would set it later, and the folder may be the profile's
        inner.set_config_variable("profile", profile)
    data_path = inner.get_config_variable("data_path")
    # A loader for each session, for boto3 adds to its folders; what it has read is everyone's.
    loader: Any = create_loader(data_path)
    loader._cache = _read(data_path)
    inner.register_component("data_loader", loader)
    return Session(botocore_session=inner, **arguments)


@cache
def _read(_data_path: str | None) -> dict[Any, Any]:
    """Return the cache of botocore's loaders for these folders. The loaders fill it with what they have read."""
    return {}


WHERE_KEYS_COME_FROM = (
    "in Airflow, give the connection an access key, or run where an instance profile gives one; for a command, set "
    "AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; where Airflow is installed, "
    "PLIMSOLL_SECRETS=plimsoll_airflow.wiring.secrets:airflow_secrets has commands use AIRFLOW_CONN_…"
)
"""How missing credentials are mended: commands do not look at Airflow's connections by themselves."""

REFUSED_CREDENTIALS = frozenset(
    {
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidToken",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
"""The credentials are not known, or no longer."""
# The answer to a HEAD request has no body that could say which refusal it is.
_WITHOUT_BODY = frozenset({"400", "403"})
_KEPT_S = 600.0
RECENT_S = 60.0
"""A client that is older, s, signs no URLs that are used later."""
YOUNG_S = 5.0
"""A client that is younger, s, was made with the credentials that are refused."""


class RenewedClient:
    """One client of one service, for a process that lives longer than temporary credentials.

    Making a client takes much of a second, so it is kept: only by this process, since connections do not survive a
    fork, and for 10 min at most, so that changed credentials take effect.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._lock = make, threading.Lock()
        self._client: Any = None
        self._made_at, self._process = 0.0, 0

    def __call__(self) -> Any:
        """Return the present client. Raises SecretError where none can be made."""
        with self._lock:
            if self._client is None or self._process != os.getpid() or self._age() > _KEPT_S:
                self._client, self._made_at, self._process = self._make(), time.monotonic(), os.getpid()
            return self._client

    def recent(self) -> Any:
        """Return a client made within the last minute, for URLs that it signs now and that are used later."""
        with self._lock:
            if self._age() > RECENT_S:
                self._client = None
        return self()

    def ask(self, question: Callable[[Any], Any]) -> Any:
        """Return the result of the question for the client.

        With refused credentials it is asked once more, of a new client. A question may be asked twice, so it must not
        contain anything that the first time uses up.
        """
        client = self()
        try:
            return question(client)
        except ClientError as error:
            if str(error.response.get("Error", {}).get("Code", "")) not in REFUSED_CREDENTIALS | _WITHOUT_BODY:
                raise
            with self._lock:
                # Else another thread has made a new client meanwhile, which is worth asking
                if self._client is client:
                    if self._age() < YOUNG_S:
                        raise
                    self._client = None
        return question(self())

    def _age(self) -> float:
        return time.monotonic() - self._made_at
