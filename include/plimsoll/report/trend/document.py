"""The trend over campaigns as one object with documented keys: what `plimsoll trend --json` prints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.analysis.campaign.cell_results import CampaignData, cell_results
from plimsoll.analysis.campaign.definition_differences import defined_facts, incomparable
from plimsoll.analysis.campaign.findings import CampaignCells
from plimsoll.analysis.campaign.side_by_side import unlike_measures, variant_pairs
from plimsoll.analysis.trend.change_points import P_VALUE
from plimsoll.analysis.trend.figures import figures_of
from plimsoll.analysis.trend.series import (
    MeasuredCampaign,
    Order,
    PlacedChange,
    TrendSeries,
    in_order,
    natural,
    placed_changes,
    trend_series,
)
from plimsoll.domain.keys.system import NOT_KNOWN
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.report.compare.campaigns import measured_facts
from plimsoll.report.formatting import listing
from plimsoll.report.words.environment_facts import ARCHIVE

DATABASE = "database"
CODE = "Plimsoll's code"


class TrendCampaign(Model):
    """A campaign of the trend."""

    campaign_id: str
    definition: str
    began_at: Annotated[AwareDatetime, Field(description="Start of its first load; of an import as its files say")]
    label: LeftOutIfEmpty[str] = ""
    incomplete: Annotated[
        LeftOutIfEmpty[tuple[str, ...]], Field(description="Cells that its published report is without")
    ] = ()


class LeftOutCampaign(Model):
    """A campaign of the definition, or a part of it, that is not in the trend."""

    campaign_id: str
    part: Annotated[
        LeftOutIfEmpty[str], Field(description="Id of stage and workload; left out: the whole campaign")
    ] = ""
    why: str


class TrendDocument(Model):
    """The figures of comparable campaigns in an order, and where they change their level."""

    format: Annotated[Literal[1], Field(description="Raised when a key changes its meaning or goes")] = 1
    definitions: Annotated[tuple[str, ...], Field(description="Names of the definitions whose campaigns these are")]
    order: Annotated[Order, Field(description="By version: the release that the series' variant ran, then by date")]
    highest_p_value: Annotated[float, Field(description="Of a change point")] = P_VALUE
    campaigns: Annotated[tuple[TrendCampaign, ...], Field(description="By label, or else by date")]
    left_out: tuple[LeftOutCampaign, ...]
    changes: Annotated[tuple[PlacedChange, ...], Field(description="What changed, each change of a variant once")]
    series: tuple[TrendSeries, ...]


@dataclass(frozen=True)
class StoredResults:
    """A campaign as the trend reads it.

    `stored_at`: when its first attempt began to be stored. `code_version`: of Plimsoll's code at that time.
    """

    data: CampaignData
    parts: tuple[CampaignData, ...]
    stored_at: datetime
    code_version: str
    incomplete: tuple[str, ...] = ()

    @property
    def began_at(self) -> datetime:
        """Return the start of the first load, or when it was stored where no file says the former."""
        started = (one.counted.verdict.started_at for one in self.data.state.cells if one.counted)
        return min(filter(None, started), default=self.stored_at)


def trend_document(
    definitions: Sequence[str], campaigns: Sequence[StoredResults], left_out: Iterable[LeftOutCampaign], order: Order
) -> TrendDocument:
    """Return the trend over the campaigns, as far as they asked and measured the same as the last one by date."""
    # Files of imports may all claim the same start.
    by_date = sorted(campaigns, key=lambda one: (one.began_at, natural(one.data.campaign_id)))
    others = list(left_out)
    measured = []
    for one in by_date:
        kept, refused = _comparable(one, by_date[-1])
        others += refused
        if kept:
            measured.append(_measured(one, kept))
    placed = [one for one in measured if order == "date" or any(one.sorted_by(order, at) for at in one.declared)]
    why = "it has no label" if order == "label" else "the release of its database is not known"
    others += [LeftOutCampaign(campaign_id=one.campaign_id, why=why) for one in measured if one not in placed]
    series = trend_series(placed, order)
    by_id = {one.data.campaign_id: one for one in by_date}
    shown = in_order(placed, "label" if order == "label" else "date", ("", "", ""))
    return TrendDocument(
        definitions=tuple(definitions),
        order=order,
        campaigns=tuple(_campaign(one, by_id[one.campaign_id]) for one in shown),
        left_out=tuple(others),
        changes=placed_changes(series),
        series=series,
    )


def _campaign(one: MeasuredCampaign, stored: StoredResults) -> TrendCampaign:
    return TrendCampaign(
        campaign_id=one.campaign_id,
        definition=one.definition,
        began_at=one.began_at,
        label=one.label,
        incomplete=stored.incomplete,
    )


def _comparable(one: StoredResults, last: StoredResults) -> tuple[list[CampaignData], list[LeftOutCampaign]]:
    """Return the parts that asked and measured the same as the last campaign's, and why others did not."""
    of_last = {part.part.id: part for part in last.parts}
    kept, refused = [], []
    for part in one.parts:
        other = of_last.get(part.part.id)
        if other is None:
            why = f"{last.data.campaign_id} has no such stage or workload"
        else:
            pairs = variant_pairs(other.part, part.part, {})
            measures = unlike_measures(pairs, cell_results(other), cell_results(part))
            unlike = [*incomparable(other, part, pairs), *measures]
            named = [f"{found.what} {found.b}, there {found.a}" for found in unlike]
            why = f"it did not ask or measure the same as {last.data.campaign_id}: {listing(named, 3)}" if named else ""
        if why:
            refused.append(LeftOutCampaign(campaign_id=part.campaign_id, part=part.part.id, why=why))
        else:
            kept.append(part)
    return kept, refused


def _measured(one: StoredResults, parts: Sequence[CampaignData]) -> MeasuredCampaign:
    places = {(part.part.stage, part.part.workload_id, own.id): part for part in parts for own in part.part.variants}
    environment = {at: _environment(part, at[-1]) for at, part in places.items()}
    return MeasuredCampaign(
        campaign_id=one.data.campaign_id,
        definition=one.data.definition.name,
        began_at=one.began_at,
        label=one.data.definition.label,
        figures={key: figure for part in parts for key, figure in figures_of(part).items()},
        environment=environment,
        declared={at: _declared(one, part, at[-1], environment[at]) for at, part in places.items()},
        versions={at: _version(part, at[-1], environment[at]) for at, part in places.items()},
    )


def _environment(part: CampaignData, variant: str) -> dict[str, str]:
    return measured_facts(CampaignCells(part, cell_results(part)), variant)


def _declared(one: StoredResults, part: CampaignData, variant: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what is known by the campaign's records: which code of Plimsoll measured and judged it, and how."""
    judged_by = dict.fromkeys(cell.counted.verdict.code_version for cell in part.state.cells if cell.counted)
    defined = {f"definition: {name}": value for name, value in defined_facts(part, variant).items()}
    if DATABASE in environment:
        defined.pop("definition: version", None)
    if ARCHIVE in environment:
        defined = {name: value for name, value in defined.items() if not name.startswith(f"definition: {ARCHIVE}.")}
    return {CODE: one.code_version, "Plimsoll's code that judged": ", ".join(judged_by), **defined}


def _version(part: CampaignData, variant: str, environment: Mapping[str, str]) -> str:
    declared = part.part.version_of(part.part.variant(variant))
    return environment.get(DATABASE) or (declared if declared != NOT_KNOWN else "")
