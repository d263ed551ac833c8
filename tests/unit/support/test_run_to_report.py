from pathlib import Path
from typing import Any

import pytest
from tests.support.airflow.run_to_report import disturbed_ramp, stalled
from tests.support.campaigns import sound_attempt as sound
from tests.support.campaigns.running import is_stall

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.attempt.result import Check, Verdict
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

CELLS = grid(resolve(sound.definition()))


def verdict(*failed: str, beside: tuple[str, ...] = (), cell: Any = CELLS[0]) -> Verdict:
    """Make one that is invalid by these checks, and by reasons that no check gives."""
    checks = tuple(Check(name=name, success=False, expected="this", observed="that") for name in failed)
    reasons = (*beside, *(f"{name}: expected this, observed that" for name in failed))
    content = {"cell": cell, "valid": not reasons, "reasons": reasons, "checks": checks, "met": None}
    key = AttemptKey(campaign_id="mine", cell_id=cell.id, attempt=1)
    return sound.verdict(cell).model_copy(update={**content, "key": key})


@pytest.fixture
def campaign(tmp_path: Path) -> CampaignStore:
    campaign = CampaignStore(ObjectStore(str(tmp_path)), "mine")
    campaign.open(sound.definition())
    for cell in CELLS[1:]:
        store(campaign, verdict(cell=cell))
    return campaign


def store(campaign: Any, given: Any) -> None:
    layout.VERDICT.write(campaign.store, given.key, given)


def test_an_attempt_that_only_a_stall_spoilt_may_be_made_again() -> None:
    assert is_stall(verdict("load generator"))
    assert is_stall(verdict("load generator", "disturbed"))
    late = "load: the start was to be at 5 by this host's clock, which was 900 ms past when it was told"
    assert is_stall(verdict(beside=(late,)))


def test_an_attempt_that_something_else_spoilt_may_not() -> None:
    assert not is_stall(verdict("load generator", "collector"))
    assert not is_stall(verdict("load generator", beside=("the logs hold 3 operations",)))
    assert not is_stall(verdict(beside=("load: node1 was killed",)))
    assert not is_stall(verdict())


def test_a_ramp_may_be_made_again_that_a_stall_or_a_missed_load_ended() -> None:
    met = verdict()
    missed = met.model_copy(update={"met": False})
    assert disturbed_ramp([missed], loads=2)
    assert disturbed_ramp([verdict("disturbed")], loads=2)
    assert disturbed_ramp([met, verdict("disturbed")], loads=2)


def test_a_ramp_may_not_that_is_over_or_ended_for_another_reason() -> None:
    met = verdict().model_copy(update={"met": True})
    missed = met.model_copy(update={"met": False})
    for verdicts in ([met, met], [met, missed], [met], [None], [met, None], [verdict("collector")], []):
        assert not disturbed_ramp(verdicts, loads=2)


def test_a_campaign_whose_missing_cells_stalled_may_be_run_again(campaign: CampaignStore) -> None:
    store(campaign, verdict("disturbed"))
    assert stalled(campaign, sound.definition())


def test_a_campaign_that_lacks_a_cell_for_another_reason_may_not(campaign: CampaignStore) -> None:
    assert not stalled(campaign, sound.definition())
    store(campaign, verdict("collector"))
    assert not stalled(campaign, sound.definition())


def test_a_campaign_that_lacks_nothing_has_failed_otherwise(campaign: CampaignStore) -> None:
    store(campaign, verdict())
    assert not stalled(campaign, sound.definition())
