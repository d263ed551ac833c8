"""The trend over campaigns as one object with documented keys: what `plimsoll trend --json` prints. And what a campaign
contributes to it, from its stored results.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.analysis.campaign.cell_results import CampaignData, cell_results
from plimsoll.analysis.campaign.definition_differences import asked_facts, defined_facts
from plimsoll.analysis.campaign.findings import CampaignCells
from plimsoll.analysis.trend.change_points import P_VALUE
from plimsoll.analysis.trend.figures import CampaignFigures, MeasuredCampaign, PartFigures, VariantFacts, figures_of
from plimsoll.analysis.trend.marks import Marks
from plimsoll.analysis.trend.series import (
    Baseline,
    Order,
    PlacedChange,
    TrendSeries,
    in_order,
    natural,
    placed_changes,
    trend_series,
)
from plimsoll.domain.attempt.result import Note
from plimsoll.domain.keys.system import NOT_KNOWN
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.report.compare.campaigns import measured_facts
from plimsoll.report.formatting import listing
from plimsoll.report.words.environment_facts import ARCHIVE

DATABASE = "database"
CODE = "Plimsoll's code"
_NO_MARKS = Marks()


class TrendCampaign(Model):
    """A campaign of the trend."""

    campaign_id: str
    definition: str
    began_at: Annotated[AwareDatetime, Field(description="Start of its first load; of an import as its files say")]
    label: LeftOutIfEmpty[str] = ""
    incomplete: Annotated[
        LeftOutIfEmpty[tuple[str, ...]], Field(description="Cells that its published report is without")
    ] = ()
    baseline: Annotated[
        LeftOutIfEmpty[Note | None], Field(description="Why series start anew with it, where somebody marked it so")
    ] = None


class LeftOutCampaign(Model):
    """A campaign of the definition, or a part of it, that is not in the trend."""

    campaign_id: str
    part: Annotated[
        LeftOutIfEmpty[str], Field(description="Id of stage and workload; left out: the whole campaign")
    ] = ""
    why: str
    baseline: Annotated[
        LeftOutIfEmpty[Note | None], Field(description="Of a baseline that is not there any more: why it is one")
    ] = None


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


def trend_document(
    definitions: Sequence[str],
    campaigns: Sequence[CampaignFigures],
    left_out: Iterable[LeftOutCampaign],
    order: Order,
    marks: Marks = _NO_MARKS,
) -> TrendDocument:
    """Return the trend over the campaigns, as far as they asked and measured the same as the last one by date."""
    # Files of imports may all claim the same start.
    by_date = sorted(campaigns, key=lambda campaign: (campaign.began_at, natural(campaign.campaign_id)))
    others = list(left_out)
    measured = []
    for campaign in by_date:
        kept, refused = _comparable(campaign, by_date[-1])
        others += refused
        if kept:
            measured.append(campaign.measured(kept))
    placed = [
        campaign
        for campaign in measured
        if order == "date" or any(campaign.sorted_by(order, at) for at in campaign.facts)
    ]
    why = "it has no label" if order == "label" else "the release of its database is not known"
    others += [
        LeftOutCampaign(campaign_id=campaign.campaign_id, why=why) for campaign in measured if campaign not in placed
    ]
    by_id = {campaign.campaign_id: campaign for campaign in by_date}
    marks, baselines = marks.among({name: campaign.began_at for name, campaign in by_id.items()}), marks.baselines()
    others += _gone(baselines, measured)
    series = trend_series(placed, order, tuple(baselines))
    shown = in_order(placed, "label" if order == "label" else "date", ("", "", ""))
    return TrendDocument(
        definitions=tuple(definitions),
        order=order,
        campaigns=tuple(_campaign(by_id[campaign.campaign_id], baselines) for campaign in shown),
        left_out=tuple(others),
        changes=tuple(
            change.model_copy(update={"accepted": marks.accepted(change, series)}) for change in placed_changes(series)
        ),
        series=series,
    )


def _campaign(campaign: CampaignFigures, baselines: Mapping[Baseline, Note]) -> TrendCampaign:
    own = (note for baseline, note in baselines.items() if baseline.is_of(campaign.campaign_id, campaign.began_at))
    shown = TrendCampaign.model_validate(campaign, from_attributes=True)
    return shown.model_copy(update={"baseline": next(own, None)})


def _gone(baselines: Mapping[Baseline, Note], measured: Sequence[MeasuredCampaign]) -> Iterator[LeftOutCampaign]:
    """Yield the baselines that are placed by their date, because their campaigns take no part."""
    for baseline, note in baselines.items():
        if baseline.began_at and not any(
            baseline.is_of(campaign.campaign_id, campaign.began_at) for campaign in measured
        ):
            why = (
                f"it is a baseline and not there: by date, series start anew {baseline.began_at:%Y-%m-%d} ({note.text})"
            )
            yield LeftOutCampaign(campaign_id=baseline.campaign_id, why=why, baseline=note)


def _comparable(campaign: CampaignFigures, last: CampaignFigures) -> tuple[list[PartFigures], list[LeftOutCampaign]]:
    """Return the parts that asked and measured the same as the last campaign's, and why others did not."""
    of_last = {part.id: part for part in last.parts}
    kept, refused = [], []
    for part in campaign.parts:
        counterpart = of_last.get(part.id)
        if counterpart is None:
            why = f"{last.campaign_id} has no such stage or workload"
        else:
            named = [f"{fact.what} {fact.b}, there {fact.a}" for fact in part.unlike(counterpart)]
            why = f"it did not ask or measure the same as {last.campaign_id}: {listing(named, 3)}" if named else ""
        if why:
            refused.append(LeftOutCampaign(campaign_id=campaign.campaign_id, part=part.id, why=why))
        else:
            kept.append(part)
    return kept, refused


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
        started = (cell.counted.verdict.started_at for cell in self.data.state.cells if cell.counted)
        return min(filter(None, started), default=self.stored_at)


def contribution(results: StoredResults) -> CampaignFigures:
    """Return what a trend needs of the campaign. Raises NotFound for an attempt at a cell that no definition has."""
    return CampaignFigures(
        campaign_id=results.data.campaign_id,
        definition=results.data.definition.name,
        began_at=results.began_at,
        label=results.data.definition.label,
        incomplete=results.incomplete,
        parts=tuple(_part(part, results.code_version) for part in results.parts),
    )


def _part(part: CampaignData, code_version: str) -> PartFigures:
    return PartFigures(
        stage=part.part.stage,
        workload=part.part.workload_id,
        id=part.part.id,
        asked=asked_facts(part),
        variants={variant.id: _facts(part, variant.id, code_version) for variant in part.part.variants},
        figures=tuple(figures_of(part).items()),
    )


def _facts(part: CampaignData, variant: str, code_version: str) -> VariantFacts:
    cells = cell_results(part)
    environment = measured_facts(CampaignCells(part, cells), variant)
    verdicts = [result.verdict for result in cells if result.cell.variant == variant and result.verdict]
    version = part.part.version_of(part.part.variant(variant))
    return VariantFacts(
        product=part.part.product_of(part.part.variant(variant)),
        measure=" and ".join(sorted({verdict.measure for verdict in verdicts})),
        version=environment.get(DATABASE) or (version if version != NOT_KNOWN else ""),
        environment=environment,
        declared=_declared(part, variant, environment, code_version),
    )


def _declared(part: CampaignData, variant: str, environment: Mapping[str, str], code_version: str) -> dict[str, str]:
    """Return what is known by the campaign's records: which code of Plimsoll measured and judged it, and how."""
    judged_by = dict.fromkeys(cell.counted.verdict.code_version for cell in part.state.cells if cell.counted)
    defined = {f"definition: {name}": value for name, value in defined_facts(part, variant).items()}
    # The hosts have reported the same, and a change would be named twice
    if DATABASE in environment:
        defined.pop("definition: version", None)
    if ARCHIVE in environment:
        defined = {name: value for name, value in defined.items() if not name.startswith(f"definition: {ARCHIVE}.")}
    return {CODE: code_version, "Plimsoll's code that judged": ", ".join(judged_by), **defined}
