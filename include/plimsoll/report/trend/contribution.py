"""What a campaign contributes to a trend, from its stored results."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from plimsoll.analysis.campaign.cell_results import CampaignData, cell_results
from plimsoll.analysis.campaign.definition_differences import asked_facts, defined_facts
from plimsoll.analysis.campaign.findings import CampaignCells
from plimsoll.analysis.trend.contribution import CampaignFigures, PartFigures, VariantFacts
from plimsoll.analysis.trend.figures import figures_of
from plimsoll.domain.keys.system import NOT_KNOWN
from plimsoll.report.compare.campaigns import measured_facts
from plimsoll.report.words.environment_facts import ARCHIVE

DATABASE = "database"
CODE = "Plimsoll's code"


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
