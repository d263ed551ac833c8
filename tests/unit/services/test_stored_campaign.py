"""A campaign that an earlier version stored: read, judged fit, and told the same (tests/samples/README.md)."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plimsoll.adapters.artefacts.tarballs import unpack_tar
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.analysis.campaign.operation_means import OperationP99
from plimsoll.domain.parts import parts
from plimsoll.report import build_report
from plimsoll.report.side_by_side import CampaignComparison
from plimsoll.services.campaign.completeness import completeness
from plimsoll.services.campaign.state import Memory
from plimsoll.services.campaign.status import campaign_status
from plimsoll.services.definitions.text import dump_definition
from plimsoll.services.publish.comparison import compare_stored
from plimsoll.services.publish.results import campaign_capacities, campaign_data, comparison_data, mixed_judging
from plimsoll.services.store.campaigns import CampaignStore

STORED = Path(__file__).parents[2] / "samples" / "stored-campaign.tar.gz"
NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> CampaignStore:
    folder = tmp_path_factory.mktemp("stored")
    unpack_tar(STORED, folder)
    return CampaignStore(ObjectStore(str(folder)), "stored-1")


def test_its_definition_is_written_back_to_the_byte(campaign: CampaignStore) -> None:
    definition = campaign.definition()
    assert dump_definition(definition).encode() == campaign.definition_text()
    assert [part.name for part in parts(definition)] == [""]


def test_it_can_be_continued_with_the_same_definition(campaign: CampaignStore) -> None:
    assert campaign.open(campaign.definition()) == campaign.definition()


def test_its_cells_have_the_ids_and_outcomes_that_they_had(campaign: CampaignStore) -> None:
    status = campaign_status(campaign.store, "stored-1", campaign.definition(), NOW, Memory())
    assert {cell.id: cell.state for cell in status.matrix} == dict.fromkeys(
        ["v1-001k-r1", "v1-002k-r1", "v2-001k-r1", "v2-002k-r1"], "met"
    )
    assert completeness(campaign).is_complete


def test_its_verdicts_are_stored_again_as_they_were(campaign: CampaignStore) -> None:
    for (_, text), verdict in zip(campaign.verdict_files(), campaign.verdicts(), strict=True):
        assert verdict.model_dump_json(indent=1).encode() == text


def test_its_capacities_are_found_and_its_verdicts_fit_together(campaign: CampaignStore) -> None:
    found = campaign_capacities(campaign, campaign.verdicts(), NOW)
    assert [(one.variant, one.kind, one.capacity_ops_s, one.workload) for one in found] == [
        ("v1", "at-least", 2000, ""),
        ("v2", "at-least", 2000, ""),
    ]
    assert mixed_judging("stored-1", comparison_data(campaign, NOW).state) is None


def test_its_report_has_the_mean_p99_of_each_operation(campaign: CampaignStore) -> None:
    heading, *rows = build_report(campaign_data(campaign, (), NOW)).files["operations.csv"].decode().splitlines()
    assert heading == ",".join(OperationP99.model_fields)
    assert rows[:2] == ["v1,1000,reads,1,1,0,2.0,2.0,2.0", "v1,1000,writes,1,1,0,2.0,2.0,2.0"]
    assert len(rows) == 8


def test_its_report_tells_its_capacities_and_cells_without_workloads(campaign: CampaignStore) -> None:
    told = json.loads(build_report(campaign_data(campaign, (), NOW)).files["report.json"])
    assert (told["format"], told["campaign_id"]) == (1, "stored-1")
    assert [(one["variant"], one["kind"], one["capacity_ops_s"]) for one in told["capacity"]] == [
        ("v1", "at-least", 2000),
        ("v2", "at-least", 2000),
    ]
    assert not {"parts", "stages"} & told.keys()


def test_it_is_compared_with_itself_as_equal(campaign: CampaignStore) -> None:
    found = compare_stored(campaign.store, "stored-1", "stored-1", pairing={}, force=False, now=NOW)
    assert isinstance(found, CampaignComparison)
    assert found.workload == ""
    assert [(pair.a.capacity_ops_s, pair.b.capacity_ops_s) for pair in found.capacity] == [(2000, 2000)] * 2
    assert len(found.loads) == 4


def test_its_definition_is_parsed_once_in_a_process(campaign: CampaignStore) -> None:
    assert campaign.definition() is CampaignStore(campaign.store, "stored-1").definition()
