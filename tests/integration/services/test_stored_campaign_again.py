"""A campaign stored in format 1: judged again from its raw files, and compared with one that runs now."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.one_cell import run_cell
from tests.support.stores.stored_campaign import CAMPAIGN, STORED

from plimsoll.adapters.artefacts.archives import unpack_tar
from plimsoll.domain.keys.workload import NamedWorkload
from plimsoll.report.compare.parts import PartsComparison
from plimsoll.services.judge.rejudging import collected_attempts, rejudge
from plimsoll.services.publish.results import compare_stored
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

TODAY = "today"


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Provide one whose store holds the campaign."""
    (tmp_path / "store").mkdir()
    unpack_tar(STORED, tmp_path / "store")
    return Installation(tmp_path)


def test_it_is_judged_again_from_its_raw_files_with_the_same_figures(installation: Installation) -> None:
    campaign = CampaignStore(installation.toolkit.store, CAMPAIGN)
    keys = collected_attempts(campaign)
    before = [layout.VERDICT.read(campaign.store, key) for key in keys]
    found = rejudge(lambda: installation.toolkit, keys, 1, lambda _: None)
    assert [(one.key.cell_id, one.before, one.after, one.failure) for one in found] == [
        ("v1-001k-r1", "met", "met", ""),
        ("v1-002k-r1", "met", "met", ""),
        ("v2-001k-r1", "met", "met", ""),
        ("v2-002k-r1", "met", "met", ""),
    ]
    after = [layout.VERDICT.read(campaign.store, key) for key in keys]
    assert list(map(figures, after)) == list(map(figures, before))
    assert all(len(level.ratios) == level.judged for verdict in after for level in verdict.levels)


def figures(verdict: Any) -> Any:
    levels = [level.model_copy(update={"ratios": ()}) for level in verdict.levels]  # the release did not store these
    return (
        levels,
        verdict.operations,
        verdict.achieved_ops_s,
        verdict.maxima,
        verdict.maxima_by_operation,
        verdict.errors,
    )


def test_it_is_compared_with_the_same_workload_of_a_campaign_that_has_several(installation: Installation) -> None:
    stored = CampaignStore(installation.toolkit.store, CAMPAIGN).declared()
    workloads = (
        NamedWorkload.model_validate({"id": "same", **stored.workload.model_dump(mode="json", exclude_unset=True)}),
        NamedWorkload.model_validate({"id": "other", "partitions": "1k"}),
    )
    definition = instant_definition(TODAY, loads=1).model_copy(update={"workloads": workloads})
    installation.open_campaign(definition, TODAY)
    for variant in ("v1", "v2"):
        for workload in workloads:
            run_cell(installation.toolkit, TODAY, f"{variant}-{workload.id}-001k-r1", "test", print)
    now = installation.toolkit.clock.now()
    found = compare_stored(installation.toolkit.store, CAMPAIGN, TODAY, pairing={}, force=False, now=now)
    assert isinstance(found, PartsComparison)
    assert [(one.workload, len(one.loads)) for one in found.parts] == [("same", 4)]
    assert (found.a.only, found.b.only) == ((), ("other",))
