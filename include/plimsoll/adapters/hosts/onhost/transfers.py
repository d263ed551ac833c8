"""Transfer files between this host and a store, through URLs that allow access to one file.

Such a URL is a secret: it arrives by standard input, and no error message contains it.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from plimsoll.adapters.hosts.onhost import receiver

_ANSWER_S = 30.0
# With their pauses: what a store that is asked too much, or that restarts, takes.
_PAUSES_S = (0.5, 1.0, 2.0, 4.0)
_AT_ONCE = 4
_BLOCK = 1 << 20
_TAKEN = 412
# 409: S3 may turn away both of two conditional writes at once
_TRANSIENT = frozenset({408, 409, 429, 500, 502, 503, 504})
_CODE = re.compile(rb"<Code>([A-Za-z]{1,60})</Code>")

_T = TypeVar("_T")


class Interrupted(Exception):
    """A failure that another try may mend."""


class KeyExists(Exception):
    """The store already has a file with that key."""


def fetch(place: Path, url: str, limit_s: float) -> None:
    """Download the tar at that URL and unpack it where `receiver` collects the files of the place. Raises OSError."""
    until = time.monotonic() + limit_s
    persistently(lambda: _fetch(place, url, until), until)


def measure(paths: list[str], most_bytes: int) -> dict[str, Any]:
    """Return size and sha256 of each file as far as it is written now; for an unreadable or larger file the reason."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(pool.map(lambda path: (path, _measured(Path(path), most_bytes)), paths))


def send(files: list[dict[str, Any]], limit_s: float) -> list[str]:
    """Upload each file with its ticket, as many bytes as were measured. Returns `stored`, `taken` or a reason."""
    until = time.monotonic() + limit_s
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda file: _sent(file, until), files))


def _fetch(place: Path, url: str, until: float) -> None:
    with _opened(urllib.request.Request(url)) as answer:  # noqa: S310 - the controller's own
        body = Body(answer, until)
        try:
            receiver.receive(place, cast("IO[bytes]", body))
        except tarfile.TarError as error:
            raise Interrupted(f"the archive ends early or is damaged: {error}") from error


def _measured(path: Path, most_bytes: int) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    try:
        if not path.is_file() or path.stat().st_size > most_bytes:
            raise OSError(f"{path} is no file or too large")
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                size += len(block)
                if size > most_bytes:
                    raise OSError(f"{path} is too large")
    except OSError as error:
        return {"error": str(error)}
    return {"size_bytes": size, "sha256": digest.hexdigest()}


def _sent(file: dict[str, Any], until: float) -> str:
    try:
        return persistently(lambda: _put(file, until), until)
    except OSError as error:
        return str(error)


def _put(file: dict[str, Any], until: float) -> str:
    size = int(file["headers"]["Content-Length"])
    with Path(file["path"]).open("rb") as content:
        body = Body(content, until, size)
        headers = {"Content-Type": "application/octet-stream", **file["headers"]}
        request = urllib.request.Request(  # noqa: S310 - the controller's own
            file["url"], data=cast("Any", body), headers=headers, method="PUT"
        )
        try:
            _opened(request).close()
        except KeyExists:
            return "taken"
    return "stored"


class Body:
    """A limited reader of a link or file: at most `size` bytes, and within a time limit."""

    def __init__(self, source: Any, until: float, size: int | None = None) -> None:
        self._source, self._until, self._left = source, until, size

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes. Raises Interrupted when the link breaks, TimeoutError when the time is over."""
        if time.monotonic() > self._until:
            raise TimeoutError("the time for it is over")
        if self._left is not None:
            size = self._left if size < 0 else min(size, self._left)
        try:
            block: bytes = self._source.read(size)
        except (OSError, http.client.HTTPException) as error:
            raise Interrupted(safe_text(error)) from error
        if self._left is not None:
            self._left -= len(block)
            if self._left and not block:
                raise OSError("the file has become shorter")
        return block


def _opened(request: urllib.request.Request) -> Any:
    """Return the open response. Raises OSError for an error that no further try can mend."""
    try:
        return _OPENER.open(request, timeout=_ANSWER_S)
    except urllib.error.HTTPError as error:
        with error:
            reason = refusal(error)
        if error.code == _TAKEN:
            raise KeyExists from None
        raise (Interrupted if error.code in _TRANSIENT else OSError)(reason) from None
    except (OSError, http.client.HTTPException) as error:
        raise Interrupted(safe_text(error)) from None


def refusal(error: urllib.error.HTTPError) -> str:
    """Return status and error code of the service. The rest of its answer may contain parts of the signature."""
    code = _CODE.search(error.read(_BLOCK))
    return f"the store answers {error.code}{f' ({code.group(1).decode()})' if code else ''}"


def safe_text(error: BaseException) -> str:
    """Return the kernel's error text. Texts of other errors may contain the URL."""
    reason = getattr(error, "reason", error)
    return str(reason) if isinstance(reason, OSError) else type(reason).__name__


def persistently(work: Callable[[], _T], until: float) -> _T:
    """Repeat the action after temporary failures. Raises OSError when all tries fail."""
    for pause in (*_PAUSES_S, None):
        try:
            return work()
        except Interrupted as error:
            if pause is None or time.monotonic() + pause > until:
                raise OSError(str(error)) from None
        time.sleep(pause)
    raise AssertionError("the last try returns or raises")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that refuses redirects, because the URL allows access only at its own address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse the redirect."""


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)
