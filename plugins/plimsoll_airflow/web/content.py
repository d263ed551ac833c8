"""Serve files of the store: only those that the store lists, with headers that stop browsers from running them."""

import mimetypes
from pathlib import PurePosixPath

from fastapi import Response

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.errors import NotFound
from plimsoll.ports.store import ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import read_manifest
from plimsoll_airflow.web import headers

_MEDIA = {".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".csv": "text/csv"}


def attempt_file_names(store: ResultStore, key: AttemptKey) -> dict[str, int | None]:
    """The files of an attempt by name below the attempt, with sizes where these are known."""
    manifest = read_manifest(store, key)
    sizes = {entry.path: entry.size_bytes for entry in manifest.files} if manifest else {}
    prefix = layout.attempt_prefix(key)
    return {name: sizes.get(name) for name in _below(store, prefix)}


def report_file_names(store: ResultStore, campaign_id: str) -> tuple[str, ...]:
    """The files of the campaign's report; empty before it is published."""
    return tuple(_below(store, layout.report_prefix(campaign_id)))


def stored(store: ResultStore, prefix: str, name: str) -> bytes:
    """The file with that name below the prefix, if the store lists it, so that no name can lead anywhere else."""
    if name not in _below(store, prefix):
        raise NotFound("there is no such file", where=name, mend="the page of the cell or report lists the files")
    return store.read(f"{prefix}/{name}")


def download(name: str, content: bytes, file_name: str = "") -> Response:
    """A response that browsers save and do not show."""
    path = PurePosixPath(name)
    saved = "".join(one if one.isalnum() or one in "._-" else "-" for one in file_name or path.name)
    return Response(
        content,
        media_type=_MEDIA.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{saved}"'},
    )


def document(content: bytes, policy: str = headers.DOCUMENT) -> Response:
    """An HTML page of the store, in a sandbox."""
    return Response(content, media_type="text/html", headers={"Content-Security-Policy": policy})


def _below(store: ResultStore, prefix: str) -> list[str]:
    return [name[len(prefix) + 1 :] for name in store.keys(prefix) if len(name) > len(prefix)]
