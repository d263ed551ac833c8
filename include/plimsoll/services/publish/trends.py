"""The trend over the campaigns of definitions: read from the store by their names."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.cell_results import require_no_strays
from plimsoll.analysis.campaign.findings import data_of_parts
from plimsoll.domain.text.errors import DamagedRecord, DefinitionError, NotFound
from plimsoll.domain.text.wording import meant
from plimsoll.services.campaign.state.completeness import completeness_of
from plimsoll.services.publish.results import mixed_judging, verdict_data
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import StoredCampaign, published_without
from plimsoll.services.store.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from plimsoll.analysis.campaign.cell_results import AttemptData
    from plimsoll.analysis.trend.series import Order
    from plimsoll.ports.store import ReadableStore
    from plimsoll.report.trend.document import StoredResults, TrendDocument

_NAME = re.compile(rb"^name: *['\"]?([\w-]+)", re.MULTILINE)
"""The name in a campaign's own copy of its definition, which Plimsoll wrote: most copies need no parsing."""


def stored_trend(store: ReadableStore, names: Sequence[str], order: Order, now: datetime) -> TrendDocument:
    """Return the trend over all campaigns of definitions with these names.

    A campaign that can't take part is named with the reason. Raises NotFound for a name without any campaign.
    """
    from plimsoll.report.trend.document import LeftOutCampaign, trend_document

    of_names = _campaigns_of(store, names)
    found, left_out = [], []
    for campaign_id in of_names:
        campaign = StoredCampaign(store, campaign_id)
        try:
            results = _results(campaign, now)
        except (DamagedRecord, DefinitionError, NotFound) as error:
            results = error.headline
        if isinstance(results, str):
            left_out.append(LeftOutCampaign(campaign_id=campaign_id, why=results))
        else:
            found.append(results)
    return trend_document(names, found, left_out, order)


def _campaigns_of(store: ReadableStore, names: Sequence[str]) -> list[str]:
    by_name: dict[str, list[str]] = {}
    for campaign_id in store.folders(""):
        try:
            text = store.read(layout.DEFINITION.key(campaign_id))
        except NotFound:
            continue
        if named := _NAME.search(text):
            by_name.setdefault(named[1].decode(), []).append(campaign_id)
    for name in names:
        if name not in by_name:
            mend = f"{meant(name, by_name)} `plimsoll campaigns` lists the campaigns of this store".strip()
            raise NotFound(f"there is no campaign of a definition {name!r}", where=store.url(), mend=mend)
    return [campaign_id for name in dict.fromkeys(names) for campaign_id in by_name[name]]


def _results(campaign: StoredCampaign, now: datetime) -> StoredResults | str:
    """Return the campaign's results, or why it can't take part. Raises DamagedRecord, DefinitionError, NotFound."""
    from plimsoll.report.trend.document import StoredResults

    data = verdict_data(campaign, campaign.verdicts(), now)
    incomplete = published_without(campaign.store, campaign.campaign_id)
    counted = [one.counted for one in data.state.cells if one.counted]
    missing = completeness_of(data.state)
    if not counted or not (missing.is_complete or incomplete):
        mend = f"`plimsoll report {campaign.campaign_id} --incomplete` would let it take part"
        return missing.words + (f": {mend}" if counted else "")
    if mixed := mixed_judging(campaign.campaign_id, data.state):
        return f"{mixed.what} ({mixed.mend})"
    require_no_strays(data)
    data = replace(data, attempts=tuple(_with_tables(campaign.store, one) for one in data.attempts))
    first = min(counted, key=lambda one: (one.verdict.started_at is None, one.verdict.started_at or now))
    record = layout.ATTEMPT.read(campaign.store, first.key)
    return StoredResults(
        data=data,
        parts=data_of_parts(data),
        stored_at=record.started_at if record else now,
        code_version=record.code_version if record else "not known",
        incomplete=() if missing.is_complete else incomplete,
    )


def _with_tables(store: ReadableStore, one: AttemptData) -> AttemptData:
    """Return the attempt with its environment and what its GC logs tell."""
    return replace(
        one,
        fingerprint=layout.FINGERPRINT.read(store, one.key),
        provenance=layout.PROVENANCE.read(store, one.key),
        pauses=read_table(store, one.key, "pauses"),
        jvms=read_table(store, one.key, "jvms"),
    )
