"""Read a campaign's results from the store, in the form that the analysis needs, and the files that its report is made
from, once, so that the report and its bundle agree.

Also read the answer of a published report, for those who wait at a terminal, and two campaigns beside each other.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.campaign.capacity import reported_capacities
from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData
from plimsoll.analysis.campaign.findings import data_of_parts
from plimsoll.domain.text.errors import NotFound, Problem, Refused
from plimsoll.report.formatting import listing
from plimsoll.services.cell.attempt_state import failure_of
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.hosts.spending import campaign_spending
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.store.tables import TABLES, read_table, table_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from plimsoll.analysis.campaign.capacity import Capacity
    from plimsoll.domain.attempt.result import Check, Verdict
    from plimsoll.domain.campaign.cell import AttemptKey
    from plimsoll.ports.store import ReadableStore, ResultStore
    from plimsoll.report.compare.parts import Comparisons
    from plimsoll.report.words.terminal import Answer
    from plimsoll.strategies.state import C, CampaignState

DOCUMENT = "report.json"
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


def campaign_data(campaign: StoredCampaign, quality: Sequence[Check], at: datetime) -> CampaignData:
    """Return all data for the report. Raises NotFound when there is no such campaign."""
    attempts = tuple(attempt_data(campaign.store, verdict) for verdict in campaign.verdicts())
    data = _data(campaign, attempts, at)
    return replace(
        data,
        quality=tuple(quality),
        definition_yaml=dump_definition(data.definition),
        spending=campaign_spending(campaign, at),
        note=layout.NOTE.read_sound(campaign.store, campaign.campaign_id),
        approvals=campaign.approvals(),
        unjudged=dict(_unjudged(campaign)),
    )


def _unjudged(campaign: StoredCampaign) -> Iterator[tuple[AttemptKey, str]]:
    """Yield each attempt without a verdict, with how it ended as far as that is on record."""
    for key in campaign.all_attempts():
        if not layout.VERDICT.exists(campaign.store, key):
            cancelled = layout.CANCELLED.read(campaign.store, key)
            why = f"cancelled by {cancelled.by}" if cancelled else failure_of(campaign.store, key)
            yield key, why or "it was killed, or had not ended when this report was made"


def campaign_capacities(campaign: StoredCampaign, verdicts: Iterable[Verdict], at: datetime) -> tuple[Capacity, ...]:
    """Return the capacity of each variant with each workload, in the definition's order, from these verdicts alone.

    Stages that take their load from an earlier one have none.
    """
    of_parts = data_of_parts(verdict_data(campaign, verdicts, at))
    return tuple(capacity for part in of_parts for capacity in reported_capacities(part))


def verdict_data(campaign: StoredCampaign, verdicts: Iterable[Verdict], at: datetime) -> CampaignData:
    """Return the data for capacities: the verdicts, without the tables that they were reached from."""
    return _data(campaign, tuple(map(_without_tables, verdicts)), at)


def _data(campaign: StoredCampaign, attempts: tuple[AttemptData, ...], at: datetime) -> CampaignData:
    declared = campaign.declared()
    starts = campaign.stage_starts(stage.id for stage in declared.stages if stage.taken)
    return CampaignData(campaign.campaign_id, declared, attempts, (), at, stage_starts=starts)


def comparison_data(campaign: StoredCampaign, at: datetime) -> CampaignData:
    """Return the data for a comparison of campaigns: the verdicts, and the environments of the measurements."""
    attempts = tuple(attempt_data(campaign.store, verdict, ("hosts",)) for verdict in campaign.verdicts())
    return _data(campaign, attempts, at)


def mixed_judging(campaign_id: str, state: CampaignState[C]) -> Problem | None:
    """Return the reason against combining the verdicts that count: they were reached by different service levels.

    That happens when sliding windows were added to a campaign after attempts were judged. None where there is no
    reason.
    """
    expected = {part.id: part.service_levels for part in state.campaign.parts}
    others = [
        f"{cell.cell.id} attempt {cell.verdict.key.attempt}"
        for cell in state.by_variant
        if cell.verdict and tuple(level.service_level for level in cell.verdict.levels) != expected[cell.cell.part]
    ]
    if not others:
        return None
    what = f"attempts were judged by other service levels than the campaign's: {listing(others, 3)}"
    return Problem(f"campaign {campaign_id}", what, f"judge them again: `plimsoll rejudge {campaign_id}`")


def _without_tables(verdict: Verdict) -> AttemptData:
    import pandas as pd

    nothing = pd.DataFrame()
    return AttemptData(verdict, None, nothing, nothing)


def attempt_data(store: ReadableStore, verdict: Verdict, tables: Collection[str] = TABLES) -> AttemptData:
    """Return a judged attempt with its environment and these of its tables; the others are empty."""
    import pandas as pd

    return AttemptData(
        verdict=verdict,
        fingerprint=layout.FINGERPRINT.read(store, verdict.key),
        provenance=layout.PROVENANCE.read(store, verdict.key),
        **{kind: read_table(store, verdict.key, kind) if kind in tables else pd.DataFrame() for kind in TABLES},
    )


def published_answer(campaign: StoredCampaign, at: datetime) -> Answer:
    """Return the answer that the campaign's published report gives. Raises NotFound where none is published."""
    from plimsoll.report.words.capacities import capacity_rows_of
    from plimsoll.report.words.terminal import Answer, links

    (_, whole), *documents = published_documents(campaign)
    of_parts = [f"{name}: {document['conclusion']}" for name, document in documents]
    documents = documents or [("", whole)]
    warnings: defaultdict[str, list[str]] = defaultdict(list)
    for text, cells in (pair for _, document in documents for pair in document["warnings"].items()):
        warnings[text].extend(cells)
    return Answer(
        conclusions=(whole["conclusion"], *of_parts),
        rows=capacity_rows_of(verdict_data(campaign, campaign.verdicts(), at)),
        links=tuple(line for name, document in documents for line in links(document, name)),
        warnings=warnings,
    )


def published_documents(campaign: StoredCampaign) -> list[tuple[str, Any]]:
    """Return the published `report.json`, and behind it that of each part by its name, where there are several.

    Raises NotFound where no report is published.
    """
    whole = _read(campaign, DOCUMENT)
    return [("", whole), *((part["name"], _read(campaign, part["document"])) for part in whole.get("parts", ()))]


def _read(campaign: StoredCampaign, name: str) -> Any:
    return json.loads(campaign.store.read(layout.report_key(campaign.campaign_id, name)))


def compare_stored(  # noqa: PLR0913  # the two campaigns, and how
    store: ResultStore, a: str, b: str, *, pairing: Mapping[str, str], force: bool, now: datetime
) -> Comparisons:
    """Compare campaign `b` with campaign `a`, workload by workload.

    Raises NotFound where there is no such campaign, and Refused where the two are not comparable or where the verdicts
    of one were reached by different service levels.
    """
    from plimsoll.report.compare.parts import compare_parts

    campaigns = [CampaignStore(store, campaign_id) for campaign_id in (a, b)]
    data_a, data_b = compared = [comparison_data(campaign, now) for campaign in campaigns]
    problems = (mixed_judging(data.campaign_id, data.state) for data in compared)
    if mixed := [problem for problem in problems if problem]:
        raise Refused(mixed, where="what is to be compared")
    return compare_parts(data_a, data_b, pairing=pairing, force=force)
