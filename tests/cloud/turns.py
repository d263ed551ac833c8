"""Requests in turn: moto's data are not made for several threads."""

import io
import threading
from collections.abc import Callable, Iterable
from typing import Any

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class InTurn:
    """A WSGI application that answers one request after the other.

    Two PUTs of the same key at once could end in moto with status 500, or leave a file open that no key refers to any
    more. A request is read before its turn: a caller that stops in the middle of it holds up nobody.
    """

    def __init__(self, application: Wsgi) -> None:
        self._application, self._turn = application, threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Return the application's answer, complete."""
        whole_body(environ)
        with self._turn:
            return list(self._application(environ, start_response))


def whole_body(environ: dict[str, Any]) -> bytes:
    """Read the request's body, and leave it readable for whoever comes next."""
    if environ.get("wsgi.input_terminated"):  # sent in chunks, without a length
        body: bytes = environ["wsgi.input"].read()
    else:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    return body
