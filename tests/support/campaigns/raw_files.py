"""The raw files of an attempt, as tests read them."""

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.ports.store import ReadableStore
from plimsoll.services.store import layout


def raw_text(store: ReadableStore, key: AttemptKey, name: str) -> str:
    """Read the attempt's raw file `HOST/FILE`. Raises NotFound."""
    return store.read(layout.attempt_file(key, f"{layout.RAW}/{name}")).decode()
