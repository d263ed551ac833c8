"""What a campaign contributes to a trend: small, complete, and computed once, when the campaign is published."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.analysis.campaign.definition_differences import Difference, differing, differing_variants
from plimsoll.analysis.trend.figures import Figure, SeriesKey
from plimsoll.analysis.trend.series import MeasuredCampaign
from plimsoll.domain.text.base import LeftOutIfEmpty, Model


class VariantFacts(Model):
    """What is known of a variant beside its figures, each fact as text."""

    product: str
    measure: Annotated[str, Field(description="Which times its verdicts are about; empty: nothing was judged")]
    version: Annotated[str, Field(description="The release that was measured; empty where not known")]
    environment: Annotated[dict[str, str], Field(description="As its hosts reported it, or people stated it")]
    declared: Annotated[dict[str, str], Field(description="Of the definition, and of Plimsoll's code")]


class PartFigures(Model):
    """The figures of one workload in one stage. `asked`: comparable parts have all of these facts in common."""

    stage: str
    workload: str
    id: str
    asked: dict[str, str]
    variants: Annotated[dict[str, VariantFacts], Field(description="By id")]
    figures: tuple[tuple[SeriesKey, Figure], ...]

    def unlike(self, other: "PartFigures") -> tuple[Difference, ...]:
        """Return the differences in what was asked and measured that forbid comparing figures; `other` is A of each."""
        pairs = [(name, facts, self.variants[name]) for name, facts in other.variants.items() if name in self.variants]
        of_variants = differing_variants([(name, *_kinds(a, b)) for name, a, b in pairs])
        return (*differing(other.asked, self.asked), *of_variants)


class CampaignFigures(Model):
    """A campaign of a trend."""

    campaign_id: str
    definition: str
    began_at: Annotated[AwareDatetime, Field(description="Start of its first load; of an import as its files say")]
    label: str
    incomplete: LeftOutIfEmpty[tuple[str, ...]] = ()
    parts: tuple[PartFigures, ...]

    def measured(self, parts: Sequence[PartFigures]) -> MeasuredCampaign:
        """Return the campaign as series have it, with these of its parts."""
        facts = {(part.stage, part.workload, name): known for part in parts for name, known in part.variants.items()}
        return MeasuredCampaign(
            campaign_id=self.campaign_id,
            definition=self.definition,
            began_at=self.began_at,
            label=self.label,
            figures=dict(pair for part in parts for pair in part.figures),
            environment={place: known.environment for place, known in facts.items()},
            declared={place: known.declared for place, known in facts.items()},
            versions={place: known.version for place, known in facts.items()},
        )


def _kinds(a: VariantFacts, b: VariantFacts) -> tuple[dict[str, str], dict[str, str]]:
    """Return what two variants must have in common. A variant without a verdict has times of any kind."""
    of_a, of_b = ({"product": facts.product, "measure": facts.measure} for facts in (a, b))
    if not (a.measure and b.measure):
        del of_a["measure"], of_b["measure"]
    return of_a, of_b
