"""How much room campaigns take in the store, by what their files are. Nothing is read but listings."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.ports.store import ResultStore
from plimsoll.services.housekeeping.known import files_of_no_campaign, kind_of
from plimsoll.services.store.listing import campaign_folders


@dataclass(frozen=True)
class Usage:
    """The sizes of a campaign's files, bytes. `campaign_id` is empty for what belongs to none.

    `raw`: what was collected from hosts; `derived`: tables and Data Docs; `records`: all other files.
    """

    campaign_id: str
    files: int
    raw: int
    derived: int
    report: int
    records: int

    @property
    def total(self) -> int:
        return self.raw + self.derived + self.report + self.records


def usage_of(store: ResultStore, campaign_id: str) -> Usage:
    """Return the room that the campaign takes; nothing where there is no such campaign."""
    sizes: Counter[str] = Counter(raw=0, derived=0, report=0, records=0)
    files = 0
    for file in store.listed(campaign_id):
        sizes[kind_of(file.key.removeprefix(f"{campaign_id}/"))] += file.size_bytes
        files += 1
    return Usage(campaign_id, files, **sizes)


def usage(store: ResultStore) -> Iterator[Usage]:
    """Yield the room that each campaign takes, and last that of everything else."""
    for campaign_id in campaign_folders(store):
        yield usage_of(store, campaign_id)
    others = [*files_of_no_campaign(store)]
    yield Usage("", len(others), 0, 0, 0, sum(file.size_bytes for file in others))
