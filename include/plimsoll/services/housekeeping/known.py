"""Which files a store may have: the places of docs/contributing/architecture.md, by what they are about."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import Literal

from plimsoll.domain.campaign.cell import AttemptKey, campaign_id_problem
from plimsoll.ports.store import ListedFile, ResultStore
from plimsoll.services.campaign import curating
from plimsoll.services.campaign.show import progress
from plimsoll.services.campaign.state import completeness, runs
from plimsoll.services.hosts import assignments, replacing
from plimsoll.services.ownership import HOLD
from plimsoll.services.publish import gathered, publishing, trend_marks, trends
from plimsoll.services.store import judged, layout
from plimsoll.services.store.records import Place
from plimsoll.services.store.tables import TABLES, table_file

OF_STORE: tuple[Place, ...] = (
    layout.NOTED_PLACE,
    layout.AT_REST,
    layout.LOOK,
    layout.FULL_ZONE,
    layout.CAMPAIGN_OF,
    layout.TREND_TOKEN,
    gathered.GATHERED,
    trend_marks.MARK,
    curating.DELETED,
)
_OF_ATTEMPT_OR_KEPT = (layout.CLUSTER, layout.LAUNCH, layout.UNENDED, replacing.REPLACED, replacing.UNFIT)
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
    assignments.ASSIGNMENT,
    assignments.OVER,
)
OF_KEPT: tuple[Place, ...] = (*_OF_ATTEMPT_OR_KEPT, replacing.RETIRED)
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
    assignments.OF_ATTEMPT,
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
