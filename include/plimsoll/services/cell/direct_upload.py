"""Upload files from hosts directly to the store, where both can. The controller handles only sizes and checksums."""

import logging
from collections.abc import Mapping
from datetime import timedelta
from pathlib import PurePosixPath

from plimsoll.domain.errors import HostError, NotFound
from plimsoll.ports.host import STORED, TAKEN, Host, UploadingHost
from plimsoll.ports.store import DirectStore, ResultStore, StoredFile

# Longer than any host may take for all of its files.
_LIFETIME = timedelta(minutes=30)
_log = logging.getLogger("plimsoll")


def upload_directly(
    store: ResultStore, host: Host, keys: Mapping[PurePosixPath, str]
) -> dict[PurePosixPath, StoredFile]:
    """Upload the host's files and return those that arrived, as the store describes them; the log names the others.

    An existing file is not overwritten: an earlier collection measured it and stored it completely.
    """
    if not isinstance(store, DirectStore) or not isinstance(host, UploadingHost):
        return {}
    try:
        measured = host.measure(list(keys))
        tickets = {path: store.upload_ticket(keys[path], file, _LIFETIME) for path, file in measured.items()}
        said = host.upload(tickets)
    except HostError as error:
        _log.warning("its files are fetched instead: %s", error)
        return {}
    arrived = {path: _arrived(store, keys[path], measured[path], word) for path, word in said.items()}
    for path in keys:
        if arrived.get(path) is None:
            why = said.get(path, "it can't be read")
            _log.warning("host %s: %s is fetched instead: %s", host.info.name, path, why)
    return {path: file for path, file in arrived.items() if file is not None}


def _arrived(store: DirectStore, key: str, measured: StoredFile, said: str) -> StoredFile | None:
    """Return the file as the store has it, if it does, unless it differs from what the host sent."""
    if said not in (STORED, TAKEN):
        return None
    try:
        found = store.stored(key)
    except NotFound:  # it was sent elsewhere, or is deleted by now
        return None
    return found if found.sha256 and (said == TAKEN or found == measured) else None
