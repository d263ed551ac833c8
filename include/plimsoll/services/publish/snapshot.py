"""The data of a campaign's report, read from the store once, so that the report and its bundle agree."""

from collections.abc import Iterator, Mapping

from plimsoll.domain.text.errors import NotFound
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import StoredCampaign
from plimsoll.services.store.tables import TABLES, table_file

_OF_ATTEMPT = frozenset(
    {
        *map(table_file, TABLES),
        layout.ATTEMPT.path,
        layout.CANCELLED.path,
        layout.CANARY.path,
        layout.CLUSTER.path,
        layout.FAILURE.path,
        layout.FINGERPRINT.path,
        layout.MANIFEST.path,
        layout.PROVENANCE.path,
        layout.VERDICT.path,
    }
)
"""The files of an attempt in a bundle: no raw files, which manifests name, nor Data Docs, as verdicts hold these."""


class Snapshot:
    """An implementation of the ReadableStore port over files in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(sorted(files.items()))

    def url(self, key: str = "") -> str:
        """Return the key, since the file has no address outside memory."""
        return key

    def exists(self, key: str) -> bool:
        return key in self._files

    def read(self, key: str) -> bytes:
        try:
            return self._files[key]
        except KeyError:
            raise NotFound("the snapshot holds no such file", where=key) from None

    def keys(self, prefix: str) -> Iterator[str]:
        return (key for key in self._files if not prefix or key == prefix or key.startswith(f"{prefix}/"))

    def folders(self, prefix: str) -> tuple[str, ...]:
        depth = len(prefix.split("/")) if prefix else 0
        parts = (key.split("/") for key in self.keys(prefix))
        return tuple(dict.fromkeys(names[depth] for names in parts if len(names) > depth + 1))


def take_snapshot(campaign: StoredCampaign) -> Snapshot:
    """Read all files of the campaign except raw files, attempts' Data Docs and files derived from the rest.

    Raises NotFound when there is no such campaign.
    """
    store, campaign_id = campaign.store, campaign.campaign_id
    campaign.definition_text()
    note = layout.NOTE.key(campaign_id)
    keys = [layout.DEFINITION.key(campaign_id), *([note] if store.exists(note) else ())]
    for place in (layout.APPROVAL, layout.COST, layout.DATA_DOCS, layout.STAGE_START):
        keys += store.keys(place.folder(campaign_id))
    keys += [key for key in store.keys(layout.ATTEMPTS.folder(campaign_id)) if _is_kept(key)]
    return Snapshot({key: store.read(key) for key in keys})


def _is_kept(key: str) -> bool:
    """Tell whether it includes the file of `<campaign>/cells/<cell>/<attempt>/<name>`. Raw files have longer paths."""
    _, _, _, _, *name = key.split("/")
    return len(name) == 1 and name[0] in _OF_ATTEMPT
