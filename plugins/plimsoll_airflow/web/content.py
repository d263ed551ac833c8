"""Serve files of the store: only those that the store lists, with headers that stop browsers from running them."""

import logging
import mimetypes
import re
from collections.abc import Generator, Iterator
from http import HTTPStatus
from itertools import chain
from pathlib import PurePosixPath
from threading import RLock
from typing import Any

from anyio import fail_after
from fastapi import HTTPException, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import NotFound
from plimsoll.ports.store import ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.layout import folder_of
from plimsoll_airflow.internals.api_server import BaseUser
from plimsoll_airflow.web.rendering import DOCUMENT_POLICY

_log = logging.getLogger(__name__)
DOWNLOADS_AT_ONCE = 16
DOWNLOADS_OF_ONE_USER = 4
LONGEST_BLOCK_S = 30.0
"""The longest time that a reader may take for a block of BLOCK_BYTES, s: who is slower would keep others out."""
_PIECE_BYTES = 1 << 16
"""What is handed over at a time, bytes: as much waits in memory for a reader who takes nothing more."""
# A lock that its own thread may take again: the release of a forgotten download can come at any moment.
_lock, _readers = RLock(), list[str]()


def attempt_file_names(store: ResultStore, key: AttemptKey) -> dict[str, int | None]:
    """Return the files of an attempt by name below the attempt, with sizes where these are known."""
    manifest = layout.MANIFEST.read(store, key)
    sizes = {entry.path: entry.size_bytes for entry in manifest.files} if manifest else {}
    prefix = folder_of(key)
    return {name: sizes.get(name) for name in _below(store, prefix)}


def report_file_names(store: ResultStore, campaign_id: str) -> tuple[str, ...]:
    """Return the files of the campaign's report; empty before it is published."""
    return tuple(_below(store, layout.REPORT_FILES.folder(campaign_id)))


def stored(store: ResultStore, prefix: str, name: str) -> bytes:
    """Read the whole file with that name below the prefix. For pages that Plimsoll itself made."""
    return store.read(_listed(store, prefix, name))


def download(store: ResultStore, prefix: str, name: str, user: BaseUser, file_name: str = "") -> Response:
    """Send the file with that name below the prefix, in blocks, so that browsers save and do not show it.

    Files of hosts may be large, and the process that sends them serves Airflow's tasks too. Raises HTTPException (503)
    while DOWNLOADS_AT_ONCE others are sent, or DOWNLOADS_OF_ONE_USER others to that user. A reader who is slower than
    LONGEST_BLOCK_S allows gets no more.
    """
    path = PurePosixPath(name)
    # A header holds no character beyond Latin-1, and a quote would end the name
    saved = re.sub(r"[^A-Za-z0-9._-]", "-", file_name or path.name)
    return _Download(
        _counted(store.blocks(_listed(store, prefix, name)), str(user.get_id())),
        media_type=mimetypes.guess_type(path.name)[0] or "application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{saved}"'},
    )


def document(content: bytes, policy: str = DOCUMENT_POLICY) -> Response:
    """Return an HTML page of the store, in a sandbox."""
    return Response(content, media_type="text/html", headers={"Content-Security-Policy": policy})


def _listed(store: ResultStore, prefix: str, name: str) -> str:
    """Return the key of the file, if the store lists it, so that no name can lead anywhere else."""
    if name not in _below(store, prefix):
        raise NotFound("there is no such file", where=name, mend="the page of the cell or report lists the files")
    return f"{prefix}/{name}"


class _Download(StreamingResponse):
    def __init__(self, blocks: Generator[bytes], **facts: Any) -> None:
        first = next(blocks, b"")  # what is wrong is raised here, before the answer begins
        super().__init__(chain([first], blocks), **facts)
        self._blocks = blocks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file. Where that fails, wait until the reader has gone: Airflow's middleware would end the answer as
        if the file were whole.
        """
        try:
            await super().__call__(scope, receive, send)
        except Exception as error:
            _log.warning("a download was broken off: %r", error)
        else:
            return
        await self.listen_for_disconnect(receive)

    async def stream_response(self, send: Send) -> None:
        """Send the blocks. Raises TimeoutError for a slow reader."""
        body = "http.response.body"
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for block in self.body_iterator:
                with fail_after(LONGEST_BLOCK_S):
                    for at in range(0, len(block), _PIECE_BYTES):
                        await send({"type": body, "body": block[at : at + _PIECE_BYTES], "more_body": True})
            await send({"type": body, "body": b"", "more_body": False})
        finally:
            self._blocks.close()


def _counted(blocks: Iterator[bytes], user: str) -> Generator[bytes]:
    with _lock:
        if len(_readers) >= DOWNLOADS_AT_ONCE or _readers.count(user) >= DOWNLOADS_OF_ONE_USER:
            most = f"{DOWNLOADS_AT_ONCE} files are being downloaded already, or {DOWNLOADS_OF_ONE_USER} by you"
            what = f"{most}; ask again when one has ended"
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, what, headers={"Retry-After": "10"})
        _readers.append(user)
    try:
        yield from blocks
    finally:
        with _lock:
            _readers.remove(user)


def _below(store: ResultStore, prefix: str) -> list[str]:
    return [name[len(prefix) + 1 :] for name in store.keys(prefix) if len(name) > len(prefix)]
