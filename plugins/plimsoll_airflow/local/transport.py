"""Calls of Airflow's REST API with a token, a timeout, bounded retries, and errors that contain the request."""

import time
from http import HTTPStatus
from typing import Any

import httpx

from plimsoll_airflow.local.home import ApiError, is_ours

ATTEMPTS = 4
RETRY_PAUSE_S = 0.5
TIMEOUT_S = 30.0
UNREACHED = 0
"""Stands for an HTTP status: the server was not reached, so that nothing can have happened."""


class OwnServers(httpx.HTTPTransport):
    """An adapter of requests to servers of this user on the loopback address, and to nobody else's.

    Another user's program could listen on the port before the api-server does, and would be sent a password.
    """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request. Raises ConnectError where no program of this user listens."""
        if request.url.port is None or not is_ours(request.url.port):
            raise httpx.ConnectError(f"no program of this user listens on port {request.url.port}", request=request)
        return super().handle_request(request)


class Transport:
    """The access of one user to one api-server. It gets a token on first use, and a new one when it has expired."""

    def __init__(
        self, base_url: str, password: str, *, user: str = "admin", wire: httpx.BaseTransport | None = None
    ) -> None:
        self.base_url = base_url
        self._credentials = {"username": user, "password": password}
        self._token = ""
        # Loopback only: never through a proxy that the environment names.
        self._http = httpx.Client(base_url=base_url, timeout=TIMEOUT_S, trust_env=False, transport=wire)

    def close(self) -> None:
        self._http.close()

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request once, without a token. Raises ApiError unless the answer is a success."""
        return self._checked(self._exchange(method, path, **options))

    def call(self, method: str, path: str, *, is_repeatable: bool = False, **options: Any) -> Any:
        """Call `/api/v2` with a token, and return the answer's JSON.

        A request that did not reach the server is retried. One that was lost on the way is retried only if repeating it
        does no harm.
        """
        may_repeat = is_repeatable or method in {"GET", "PATCH"}
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._authorised(method, path, **options)
            except ApiError as error:
                is_server_fault = error.status is None or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
                if attempt == ATTEMPTS or not (error.status == UNREACHED or (is_server_fault and may_repeat)):
                    raise
                time.sleep(RETRY_PAUSE_S * attempt)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _authorised(self, method: str, path: str, **options: Any) -> Any:
        for fresh in (False, True):
            if fresh or not self._token:
                token: str = self.send("POST", "/auth/token", json=self._credentials).json()["access_token"]
                self._token = token
            headers = {"Authorization": f"Bearer {self._token}"}
            response = self._exchange(method, f"/api/v2{path}", headers=headers, **options)
            if response.status_code != HTTPStatus.UNAUTHORIZED or fresh:
                break
        return self._checked(response).json()

    def _exchange(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **options)
        except httpx.ConnectError as error:
            raise ApiError(f"nothing answers: {error}", where=self.base_url + path, status=UNREACHED) from error
        except httpx.HTTPError as error:
            raise ApiError(f"no answer: {type(error).__name__} {error}", where=self.base_url + path) from error

    def _checked(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        raise ApiError(
            f"HTTP {response.status_code}: {response.text[:500]}",
            where=f"{response.request.method} {response.request.url}",
            status=response.status_code,
        )
