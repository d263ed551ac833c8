"""Which files a store may have: the places of docs/contributing/architecture.md, by what they are about.

And how much room campaigns take, by what their files are: nothing is read but listings.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Literal

from plimsoll.domain.campaign.cell import AttemptKey, campaign_id_problem
from plimsoll.ports.store import ListedFile, ResultStore
from plimsoll.services.campaign import curating
from plimsoll.services.campaign.show import progress
from plimsoll.services.campaign.state import completeness, runs
from plimsoll.services.hosts import kept_records
from plimsoll.services.ownership import HOLD
from plimsoll.services.publish import publishing, trend_marks, trends
from plimsoll.services.store import judged, layout
from plimsoll.services.store.layout import Place
from plimsoll.services.store.listing import campaign_folders
from plimsoll.services.store.tables import TABLES, table_file

OF_STORE: tuple[Place, ...] = (
    layout.NOTED_PLACE,
    layout.AT_REST,
    layout.LOOK,
    layout.FULL_ZONE,
    layout.CAMPAIGN_OF,
    layout.TREND_TOKEN,
    trends.GATHERED,
    trend_marks.MARK,
    curating.DELETED,
)
_OF_ATTEMPT_OR_KEPT = (layout.CLUSTER, layout.LAUNCH, layout.UNENDED, kept_records.REPLACED, kept_records.UNFIT)
OF_CAMPAIGN: tuple[Place, ...] = (
    layout.DEFINITION,
    layout.EARLIER_DEFINITION,
    layout.NOTE,
    layout.KEEP,
    layout.APPROVAL,
    layout.QUESTION,
    layout.LATE,
    layout.BEGUN_BY,
    layout.STAGE_START,
    layout.ROWS,
    layout.DATABASE,
    layout.SET_UP,
    layout.BUNDLES,
    layout.PRICES,
    layout.COST,
    layout.REPORT_FILES,
    publishing.PUBLICATION,
    judged.GATE_PASS,
    layout.DATA_DOCS,
    curating.DELETING,
    progress.TOTALS,
    trends.FIGURES,
    completeness.REQUEST,
    runs.RUNS,
    HOLD,
    kept_records.ASSIGNMENT,
    kept_records.OVER,
)
OF_KEPT: tuple[Place, ...] = (*_OF_ATTEMPT_OR_KEPT, kept_records.RETIRED)
TABLE_PLACES = {table_file(name): name for name in TABLES}
OF_ATTEMPT: tuple[Place, ...] = (
    *_OF_ATTEMPT_OR_KEPT,
    layout.ATTEMPT,
    layout.PROGRESS,
    layout.PROVENANCE,
    layout.ORIGIN,
    layout.TURN,
    layout.CANARY,
    layout.FLUSHED,
    layout.ACTION,
    layout.ACTION_END,
    layout.LOAD_START,
    layout.FINGERPRINT,
    layout.FAILURE,
    layout.UNDESTROYED,
    layout.CANCELLED,
    layout.MANIFEST,
    layout.RAW_REMOVED,
    layout.VERDICT,
    layout.EARLIER_VERDICT,
    layout.DATA_DOCS,
    kept_records.OF_ATTEMPT,
    *map(Place, TABLE_PLACES),
)
Kind = Literal["raw", "derived", "report", "records"]
_ATTEMPT = re.compile(r"cells/([^/]+)/([1-9]\d*)/(.+)")
_KEPT = re.compile(r"clusters/[^/]+/[1-9]\d*/(.+)")


def attempt_and_name(campaign_id: str, path: str) -> tuple[AttemptKey, str] | None:
    """Return the attempt that a file of the campaign belongs to, and its name there; None where it is of none."""
    if parts := _ATTEMPT.fullmatch(path):
        try:
            return AttemptKey(campaign_id=campaign_id, cell_id=parts[1], attempt=int(parts[2])), parts[3]
        except ValueError:  # no id of a cell
            return None
    return None


def place_of(path: str) -> Place | None:
    """Return the place that a file of a campaign has, by its path there; None for one that Plimsoll would not write.

    Raw files, which are named by a manifest alone, have none.
    """
    if parts := _ATTEMPT.fullmatch(path):
        return _first(OF_ATTEMPT, parts[3])
    if parts := _KEPT.fullmatch(path):
        return _first(OF_KEPT, parts[1])
    return _first(OF_CAMPAIGN, path)


def place_in_store(key: str) -> Place | None:
    """Return the place of a file that belongs to no campaign; None for one that Plimsoll would not write."""
    return _first(OF_STORE, key)


def kind_of(path: str) -> Kind:
    """Tell what a file of a campaign is: raw, derived by judging and checking, of the report, or a record."""
    parts = _ATTEMPT.fullmatch(path)
    name = PurePosixPath(parts[3] if parts else path)
    if parts and name.parts[0] == layout.RAW:
        return "raw"
    if not parts and name.parts[0] == "report":
        return "report"
    return "derived" if name.parts[0] == layout.QUALITY or name.suffix == ".parquet" else "records"


def files_of_no_campaign(store: ResultStore) -> Iterator[ListedFile]:
    yield from store.listed("", deep=False)
    for name in store.folders(""):
        if campaign_id_problem(name) is not None:
            yield from store.listed(name)


def _first(places: tuple[Place, ...], path: str) -> Place | None:
    return next((place for place in places if _pattern(place.path).fullmatch(path)), None)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    """Return what matches the paths of a place. Data Docs and reports have folders; other names have none."""
    texts = re.split(r"(<\w+>)", path)
    return re.compile(
        "".join(".+" if text == "<file>" else "[^/]+" if text[:1] == "<" else re.escape(text) for text in texts)
    )


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
