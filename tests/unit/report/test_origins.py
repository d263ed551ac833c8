from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.support.campaigns.synthetic import demo_campaign

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import analyse
from plimsoll.domain.provenance import Provenance
from plimsoll.report.origins import origins
from plimsoll.report.side_by_side import compare_campaigns


def imported(data: CampaignData, **kernels: str) -> CampaignData:
    """Return the same campaign as if somebody else had run it and told the kernel of some variants."""

    def known(variant: str) -> dict[str, str]:
        return {"kernel": kernels[variant]} if variant in kernels else {}

    def brought_in(environment: dict[str, str]) -> Provenance:
        return Provenance(
            source="somebody's data",
            licence="CC0",
            files=("a.hdr",),
            format="HdrHistogram interval log",
            environment=environment,
            unknown=("CPU",) if environment else ("CPU", "kernel"),
            imported_at=datetime(2026, 1, 31, tzinfo=UTC),
        )

    attempts = tuple(
        replace(one, fingerprint=None, provenance=brought_in(known(one.verdict.cell.variant))) for one in data.attempts
    )
    return replace(data, attempts=attempts)


@pytest.fixture(scope="module")
def demo() -> CampaignData:
    return demo_campaign()


def test_a_campaign_that_plimsoll_ran_has_none(demo: CampaignData) -> None:
    assert origins(analyse(demo)) == ()


def test_what_is_told_and_what_is_not_is_gathered_by_source(demo: CampaignData) -> None:
    (found,) = origins(analyse(imported(demo, g1="5.10")))
    assert (found.source, found.licence, len(found.cells)) == ("somebody's data", "CC0", 4)
    assert found.told == {"kernel": {"5.10": ("g1-00200-r1", "g1-01500-r1")}}
    assert list(found.unknown) == ["CPU", "kernel"]
    assert found.unknown["kernel"] == ("shenandoah-00200-r1", "shenandoah-01500-r1")


def test_told_facts_are_compared_side_by_side(demo: CampaignData) -> None:
    found = compare_campaigns(imported(demo, g1="5.10"), imported(demo, g1="5.15"))
    assert [(one.fact, one.variants, one.a, one.b) for one in found.environment] == [
        ("kernel", ("g1",), "5.10", "5.15")
    ]
    assert len(found.a.cells_without_fingerprint) == 4
