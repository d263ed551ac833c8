"""A campaign stored in format 1: read, judged fit, and told the same (tests/samples/README.md)."""

import json
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import pytest
from tests.support.stores.stored_campaign import CAMPAIGN, STORED

from plimsoll.adapters.artefacts.archives import unpack_tar
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.analysis.campaign.by_load import OperationP99
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.report import build_report
from plimsoll.report.compare.campaigns import CampaignComparison
from plimsoll.services.campaign.show.status import campaign_status
from plimsoll.services.campaign.state.completeness import completeness
from plimsoll.services.campaign.state.reading import Memory
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.hosts.kept_records import assignments, retirement_of
from plimsoll.services.publish.results import (
    campaign_capacities,
    campaign_data,
    compare_stored,
    comparison_data,
    mixed_judging,
)
from plimsoll.services.store.campaigns import CampaignStore

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> CampaignStore:
    folder = tmp_path_factory.mktemp("stored")
    unpack_tar(STORED, folder)
    return CampaignStore(ObjectStore(str(folder)), CAMPAIGN)


def test_its_definition_is_written_back_to_the_byte(campaign: CampaignStore) -> None:
    definition = campaign.declared()
    assert dump_definition(definition).encode() == campaign.definition_text()
    assert [part.id for part in resolve(definition).parts] == [""]


def test_the_page_on_the_store_names_each_kind_of_its_files(campaign: CampaignStore) -> None:
    page = (Path(__file__).parents[3] / "docs/contributing/architecture.md").read_text(encoding="utf-8")
    unnamed = []
    for key in map(PurePosixPath, campaign.store.keys(CAMPAIGN)):
        folder = next((one for one in ("raw", "costs") if one in key.parts), key.parent.name)
        if key.name not in page and f"{folder}/" not in page:
            unnamed.append(key)
    assert unnamed == []


def test_it_can_be_continued_with_the_same_definition(campaign: CampaignStore) -> None:
    assert campaign.open(campaign.declared()) == campaign.declared()


def test_its_cells_have_the_ids_and_outcomes_that_they_had(campaign: CampaignStore) -> None:
    status = campaign_status(campaign.store, CAMPAIGN, campaign.resolved(), NOW, Memory())
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
    assert mixed_judging(CAMPAIGN, comparison_data(campaign, NOW).state) is None


def test_its_report_has_the_mean_p99_of_each_operation(campaign: CampaignStore) -> None:
    heading, *rows = build_report(campaign_data(campaign, (), NOW))["operations.csv"].decode().splitlines()
    assert heading == ",".join(OperationP99.model_fields)
    assert rows[:2] == ["v1,1000,reads,1,1,0,2.0,2.0,2.0", "v1,1000,writes,1,1,0,2.0,2.0,2.0"]
    assert len(rows) == 8


def test_its_report_tells_its_capacities_and_cells_without_workloads(campaign: CampaignStore) -> None:
    document = json.loads(build_report(campaign_data(campaign, (), NOW))["report.json"])
    assert (document["format"], document["campaign_id"]) == (2, CAMPAIGN)
    assert [(one["variant"], one["kind"], one["capacity_ops_s"]) for one in document["capacity"]] == [
        ("v1", "at-least", 2000),
        ("v2", "at-least", 2000),
    ]
    assert not {"parts", "stages"} & document.keys()


def test_its_note_its_costs_and_the_uses_of_its_hosts_are_read(campaign: CampaignStore) -> None:
    data = campaign_data(campaign, (), NOW)
    assert data.note is not None
    assert data.note.text == "Held by the tests"
    assert data.spending is not None
    assert [entry.final for entry in (*data.spending.entries, *data.spending.idle)] == [True] * 5
    assert all(use.over_at for use in assignments(campaign.store, CAMPAIGN, "hosts"))
    retired = retirement_of(campaign.store, ClusterId.kept(CAMPAIGN, "", 1))
    assert retired is not None
    assert retired.reason == "the run that used it had ended"


def test_it_is_compared_with_itself_as_equal(campaign: CampaignStore) -> None:
    found = compare_stored(campaign.store, CAMPAIGN, CAMPAIGN, pairing={}, force=False, now=NOW)
    assert isinstance(found, CampaignComparison)
    assert found.workload == ""
    assert [(pair.a.capacity_ops_s, pair.b.capacity_ops_s) for pair in found.capacity] == [(2000, 2000)] * 2
    assert len(found.loads) == 4


def test_its_definition_is_parsed_once_in_a_process(campaign: CampaignStore) -> None:
    assert campaign.declared() is CampaignStore(campaign.store, CAMPAIGN).declared()
