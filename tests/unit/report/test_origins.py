from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.support.campaigns.synthetic import demo_campaign

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import analyse
from plimsoll.domain.hosts.fingerprint import Provenance
from plimsoll.report.compare.campaigns import compare_campaigns
from plimsoll.report.words.environment_facts import origins
from plimsoll.report.words.header import header_facts


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


def test_the_head_tells_what_was_stated_and_who_stated_it(demo: CampaignData) -> None:
    facts = header_facts(analyse(imported(demo, g1="5.10", shenandoah="5.10")))
    assert facts["Database"] == "cassandra 4.0.1 (stated by who imported it)"
    assert facts["Kernel"] == "5.10 (stated by who imported it)"
    assert facts["Source"] == "somebody's data (stated by who imported it)"
    assert facts["Load generator"] == "not stated"
    assert facts["Cluster"].endswith("(stated by who imported it)")


def test_a_default_of_the_definition_states_nothing(demo: CampaignData) -> None:
    data = imported(demo)
    defaults = ("definition: system.database", "definition: system.nodes")
    attempts = tuple(
        replace(one, provenance=one.provenance and one.provenance.model_copy(update={"unknown": defaults}))
        for one in data.attempts
    )
    facts = header_facts(analyse(replace(data, attempts=attempts)))
    assert facts["Database"] == "release 4.0.1 (stated by who imported it)"
    assert facts["Cluster"] == "not stated"
