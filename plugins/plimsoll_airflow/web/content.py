"""Serve files of the store: only those that the store lists, with headers that stop browsers from running them."""

import mimetypes
from collections.abc import Iterator
from http import HTTPStatus
from itertools import chain
from pathlib import PurePosixPath
from threading import BoundedSemaphore

from fastapi import HTTPException, Response
from fastapi.responses import StreamingResponse

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.errors import NotFound
from plimsoll.ports.store import ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import read_manifest
from plimsoll_airflow.web import headers

_MEDIA = {".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".csv": "text/csv"}
DOWNLOADS_AT_ONCE = 8
_downloads = BoundedSemaphore(DOWNLOADS_AT_ONCE)


def attempt_file_names(store: ResultStore, key: AttemptKey) -> dict[str, int | None]:
    """Return the files of an attempt by name below the attempt, with sizes where these are known."""
    manifest = read_manifest(store, key)
    sizes = {entry.path: entry.size_bytes for entry in manifest.files} if manifest else {}
    prefix = layout.attempt_prefix(key)
    return {name: sizes.get(name) for name in _below(store, prefix)}


def report_file_names(store: ResultStore, campaign_id: str) -> tuple[str, ...]:
    """Return the files of the campaign's report; empty before it is published."""
    return tuple(_below(store, layout.report_prefix(campaign_id)))


def stored(store: ResultStore, prefix: str, name: str) -> bytes:
    """Read the whole file with that name below the prefix. For pages that Plimsoll itself made."""
    return store.read(_listed(store, prefix, name))


def download(store: ResultStore, prefix: str, name: str, file_name: str = "") -> Response:
    """Send the file with that name below the prefix, in blocks, so that browsers save and do not show it.

    Files of hosts may be large, and the process that sends them serves Airflow's tasks too. Raises HTTPException (503)
    while DOWNLOADS_AT_ONCE others are sent.
    """
    blocks = _counted(store.blocks(_listed(store, prefix, name)))
    first = next(blocks, b"")  # what is wrong is raised here, before the answer begins
    path = PurePosixPath(name)
    saved = "".join(one if (one.isascii() and one.isalnum()) or one in "._-" else "-" for one in file_name or path.name)
    return StreamingResponse(
        chain([first], blocks),
        media_type=_MEDIA.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{saved}"'},
    )


def document(content: bytes, policy: str = headers.DOCUMENT) -> Response:
    """Return an HTML page of the store, in a sandbox."""
    return Response(content, media_type="text/html", headers={"Content-Security-Policy": policy})


def _listed(store: ResultStore, prefix: str, name: str) -> str:
    """Return the key of the file, if the store lists it, so that no name can lead anywhere else."""
    if name not in _below(store, prefix):
        raise NotFound("there is no such file", where=name, mend="the page of the cell or report lists the files")
    return f"{prefix}/{name}"


def _counted(blocks: Iterator[bytes]) -> Iterator[bytes]:
    if not _downloads.acquire(blocking=False):
        what = f"{DOWNLOADS_AT_ONCE} files are being downloaded already; ask again when one has ended"
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, what, headers={"Retry-After": "10"})
    try:
        yield from blocks
    finally:
        _downloads.release()


def _below(store: ResultStore, prefix: str) -> list[str]:
    return [name[len(prefix) + 1 :] for name in store.keys(prefix) if len(name) > len(prefix)]
