"""Requests that come at once are answered in turn, and one that never ends holds up nobody."""

import io
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.cloud.turns import InTurn, whole_body

_THREADS, _REQUESTS = 8, 200


class Counting:
    """An application that notes how many requests it worked on at once, and echoes their bodies."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._pause = threading.Event()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.now += 1
        self.most = max(self.most, self.now)
        self._pause.wait(0.0001)  # lets another thread in
        self.now -= 1
        yield environ["wsgi.input"].read()


class Stuck(io.RawIOBase):
    """A body of which nothing comes until the test is over."""

    def __init__(self) -> None:
        self.is_read, self.over = threading.Event(), threading.Event()

    def read(self, size: int = -1, /) -> bytes:
        self.is_read.set()
        self.over.wait()
        return b"late"


def request(body: Any, **more: Any) -> dict[str, Any]:
    return {"wsgi.input": body, "CONTENT_LENGTH": "4", **more}


def test_requests_are_answered_one_after_the_other() -> None:
    counting = Counting()
    calls = InTurn(counting)
    with ThreadPoolExecutor(_THREADS) as threads:
        answers = list(threads.map(lambda _: calls(request(io.BytesIO(b"body")), print), range(_REQUESTS)))
    assert (counting.most, answers) == (1, [[b"body"]] * _REQUESTS)


def test_a_caller_that_stops_in_the_middle_holds_up_nobody() -> None:
    calls, stuck = InTurn(Counting()), Stuck()
    with ThreadPoolExecutor(1) as thread:
        late = thread.submit(calls, request(stuck), print)
        stuck.is_read.wait()
        assert calls(request(io.BytesIO(b"body")), print) == [b"body"]
        stuck.over.set()
        assert late.result() == [b"late"]


def test_a_body_in_chunks_has_no_length() -> None:
    environ: dict[str, Any] = {"wsgi.input": io.BytesIO(b"as long as it is"), "wsgi.input_terminated": True}
    assert whole_body(environ) == b"as long as it is"
    assert environ["wsgi.input"].read() == b"as long as it is"
