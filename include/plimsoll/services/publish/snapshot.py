"""What a campaign's report is made of, read out of the store once: the report and its bundle can't differ in it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from plimsoll.domain.errors import NotFound, StoreError
from plimsoll.ports.store import StoredFile
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

_OF_ATTEMPT = frozenset(
    {
        layout.ACTIVITY,
        layout.ATTEMPT,
        layout.BACKLOG,
        layout.CANARY,
        layout.CLUSTER,
        layout.COINCIDENCES,
        layout.FAILURE,
        layout.FINGERPRINT,
        layout.HOSTS,
        layout.INTERVALS,
        layout.JVMS,
        layout.LATENCIES,
        layout.LOG_LINES,
        layout.MANIFEST,
        layout.PAUSES,
        layout.PROVENANCE,
        layout.VERDICT,
    }
)
"""Not raw files, which manifests name, nor Data Docs, whose results verdicts hold."""


class Snapshot:
    """Implements the ResultStore port over files in memory, to be read alone: whoever writes gets a StoreError."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(sorted(files.items()))

    def url(self, key: str = "") -> str:
        """The key: it lies nowhere else."""
        return key

    def exists(self, key: str) -> bool:
        """Whether that file is there."""
        return key in self._files

    def read(self, key: str) -> bytes:
        """The file's content."""
        try:
            return self._files[key]
        except KeyError:
            raise NotFound("the snapshot holds no such file", where=key) from None

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys below a prefix, sorted."""
        return (key for key in self._files if not prefix or key == prefix or key.startswith(f"{prefix}/"))

    def folders(self, prefix: str) -> tuple[str, ...]:
        """Names directly below a prefix that have something below them."""
        depth = len(prefix.split("/")) if prefix else 0
        parts = (key.split("/") for key in self.keys(prefix))
        return tuple(dict.fromkeys(found[depth] for found in parts if len(found) > depth + 1))

    def write(self, key: str, data: bytes) -> None:  # noqa: ARG002
        """Never."""
        raise _read_only(key)

    def create(self, key: str, data: bytes) -> bool:  # noqa: ARG002
        """Never."""
        raise _read_only(key)

    def upload(self, key: str, path: Path) -> StoredFile:  # noqa: ARG002
        """Never."""
        raise _read_only(key)

    def delete(self, prefix: str) -> None:
        """Never."""
        raise _read_only(prefix)

    def check(self) -> None:
        """Never."""
        raise _read_only("")


def take_snapshot(campaign: CampaignStore) -> Snapshot:
    """Everything of the campaign but raw files, attempts' Data Docs and what is made of the rest.

    NotFound when there is no such campaign.
    """
    store, campaign_id = campaign.store, campaign.campaign_id
    campaign.definition_text()
    whole = (
        layout.costs_prefix(campaign_id),
        layout.campaign_quality_prefix(campaign_id),
        layout.stages_prefix(campaign_id),
    )
    note = layout.note_key(campaign_id)
    named = [layout.definition_key(campaign_id), *([note] if store.exists(note) else ())]
    keys = [*named, *(key for prefix in whole for key in store.keys(prefix))]
    keys += [key for key in store.keys(layout.cells_prefix(campaign_id)) if _is_kept(key)]
    return Snapshot({key: store.read(key) for key in keys})


def _is_kept(key: str) -> bool:
    """Of `<campaign>/cells/<cell>/<attempt>/<name>`, whether the name is one of those; raw files lie deeper."""
    _, _, _, _, *name = key.split("/")
    return len(name) == 1 and name[0] in _OF_ATTEMPT


def _read_only(key: str) -> StoreError:
    return StoreError("a snapshot of a campaign can't be changed", where=key)
