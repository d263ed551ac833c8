"""Whether a campaign's `finish_by` leaves time for another cell."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.unit.services.spending.paid_campaign import HOUR, opened, start

from plimsoll.domain.attempt.status import AttemptProgress
from plimsoll.domain.text.errors import Refused
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.limits import compared
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit


def due(installation: Installation, finish_by: timedelta | datetime) -> CampaignStore:
    campaign = opened(installation, budget=None)  # loads of 2 hours
    campaign.open(campaign.declared().model_copy(update={"finish_by": finish_by}))
    return campaign


def over(work: AttemptContext, clock: SteppingClock, *phases: str) -> None:
    """Let the attempt be done, after these phases."""
    at = clock.now()
    progress = {"phase": "done", "at": at, "phases": dict.fromkeys(phases, at)}
    layout.PROGRESS.write(work.toolkit.store, work.key, AttemptProgress.model_validate(progress))


def test_no_cell_begins_whose_load_would_end_after_the_deadline(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    due(installation, clock.now() + 3 * HOUR)
    begin(tools, "campaign", "v1-001k-r1", "me")
    clock.at += 1.5 * HOUR
    with pytest.raises(Refused, match=r"finish_by: leaves no time .* UTC, 0:30:\d\d after `finish_by`") as caught:
        begin(tools, "campaign", "v1-002k-r1", "me")
    assert "raise `finish_by` in the definition" in str(caught.value)
    assert CampaignStore(tools.store, "campaign").attempts("v1-002k-r1") == ()


def test_cells_are_expected_to_take_as_long_as_those_before_them(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    due(installation, clock.now() + 5.5 * HOUR)
    work = start(tools, "v1-001k-r1")
    clock.at += 3 * HOUR
    over(work, clock, "deploy", "load")
    with pytest.raises(Refused, match=r"0:30:\d\d after"):
        begin(tools, "campaign", "v1-002k-r1", "me")


def test_an_attempt_that_came_to_no_load_says_nothing_of_others(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    due(installation, clock.now() + 5.5 * HOUR)
    work = start(tools, "v1-001k-r1")
    clock.at += 3 * HOUR
    over(work, clock, "deploy")
    begin(tools, "campaign", "v1-002k-r1", "me")


def test_a_length_counts_from_the_first_cell_and_may_be_raised(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = due(installation, 3 * HOUR)
    clock.at += 24 * HOUR
    begin(tools, "campaign", "v1-001k-r1", "me")
    clock.at += 1.5 * HOUR
    with pytest.raises(Refused, match="finish_by"):
        begin(tools, "campaign", "v1-002k-r1", "me")
    campaign.open(campaign.declared().model_copy(update={"finish_by": 4 * HOUR}))
    begin(tools, "campaign", "v1-002k-r1", "me")


def test_an_end_is_told_beside_the_deadline() -> None:
    deadline = datetime(2026, 3, 1, 13, 45, tzinfo=UTC)
    late, early = deadline + timedelta(minutes=35), deadline - timedelta(minutes=5)
    assert compared(late, deadline) == "about 1 March 14:20 UTC, 0:35:00 after `finish_by`"
    assert compared(early, deadline) == "about 1 March 13:40 UTC, 0:05:00 before `finish_by`"
