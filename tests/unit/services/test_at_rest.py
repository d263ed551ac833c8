"""Campaigns at rest: the reaper looks at those alone that have begun something since."""

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.hosts.cost import HostRate, Tariff
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.services.campaign.curating import delete_campaign
from plimsoll.services.hosts import at_rest, settling
from plimsoll.services.hosts.at_rest import (
    LOOKED_AT_AGAIN,
    begin_look,
    campaigns_to_look_at,
    mark,
    marks,
    note_left,
    note_used,
    stirred_campaigns,
    unmark,
)
from plimsoll.services.hosts.paid_hosts import open_accounts
from plimsoll.services.hosts.places import StoredPlaces
from plimsoll.services.hosts.reaping import reap
from plimsoll.services.retries import Outage
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit

KEY = AttemptKey(campaign_id="c-1", cell_id="v1-001k-r1", attempt=1)
CLUSTER = ClusterId.of_attempt(KEY)


class Counting:
    """A store that counts what it is asked for."""

    def __init__(self, store: Any) -> None:
        self._store, self.asked = store, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        if name != "url":
            self.asked[name] += 1
        return getattr(self._store, name)


def priced(tools: Toolkit) -> Toolkit:
    return replace(tools, tariffs={"ec2": None})  # type: ignore[dict-item]  # that there are some is all that is asked


def of_region(region: str) -> Any:
    return instant_definition().model_copy(update={"provider": ProviderChoice(name="ec2", options={"region": region})})


@pytest.fixture
def tools(installation: Installation) -> Toolkit:
    for number in (1, 2, 3):
        installation.open_campaign(of_region("us-east-1" if number < 3 else "eu-west-1"), f"c-{number}")
    return priced(installation.toolkit)


def test_a_pass_of_the_reaper_marks_campaigns_that_have_nothing_to_settle(tools: Toolkit) -> None:
    assert stirred_campaigns(tools.store) == ("c-1", "c-2", "c-3")
    note_used(tools.store, CLUSTER)

    assert reap(tools, lambda _: True).troubles == ()

    assert stirred_campaigns(tools.store) == ("c-1",)
    note_left(tools.store, CLUSTER)
    reap(tools, lambda _: True)
    assert stirred_campaigns(tools.store) == ()


def test_the_next_pass_asks_for_no_campaign_at_rest_however_many_there_are(
    tools: Toolkit, installation: Installation, clock: SteppingClock
) -> None:
    def asked() -> Counter[str]:
        counting: Any = Counting(tools.store)
        reap(replace(tools, store=counting, places=StoredPlaces(counting, Outage(clock))), lambda _: True)
        return counting.asked

    first, of_three = asked(), asked()
    for number in range(4, 40):
        installation.open_campaign(of_region("us-east-1"), f"c-{number}")
    asked()
    assert asked() == of_three
    assert sum(of_three.values()) < sum(first.values())


def test_places_of_campaigns_at_rest_are_known_without_their_definitions(tools: Toolkit, clock: SteppingClock) -> None:
    before = StoredPlaces(tools.store, Outage(clock)).known("ec2")
    reap(tools, lambda _: True)
    counting: Any = Counting(tools.store)

    assert StoredPlaces(counting, Outage(clock)).known("ec2") == before
    assert counting.asked["read"] == 2  # one for each region


@pytest.mark.parametrize("kind", ["database", "hosts"])
def test_whoever_begins_something_wakes_the_campaign(tools: Toolkit, installation: Installation, kind: str) -> None:
    from plimsoll.services.cell.attempts import begin

    reap(tools, lambda _: True)
    installation.open_campaign(instant_definition(), "c-4")
    reap(tools, lambda _: True)
    if kind == "database":
        note_used(tools.store, CLUSTER)
        assert stirred_campaigns(tools.store) == ("c-1",)
    else:
        begin(installation.toolkit, "c-4", KEY.cell_id, "me")
        assert stirred_campaigns(tools.store) == ("c-4",)


@pytest.mark.parametrize("dies", [False, True])
def test_what_was_begun_while_the_reaper_looked_is_not_overlooked(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    def mark_too_late(store: Any, campaign_id: str, token: str, choice: ProviderChoice) -> None:
        note_used(store, CLUSTER.model_copy(update={"campaign_id": campaign_id}))
        mark(store, campaign_id, token, choice)
        if dies:
            raise KeyboardInterrupt

    monkeypatch.setattr(settling, "mark", mark_too_late)
    with pytest.raises(KeyboardInterrupt) if dies else nullcontext():
        reap(tools, lambda _: True)
    assert stirred_campaigns(tools.store) == ("c-1", "c-2", "c-3")


def test_a_reaper_that_died_before_its_last_look_has_marked_nothing(tools: Toolkit) -> None:
    begin_look(tools.store, "c-1")
    assert stirred_campaigns(tools.store) == ("c-1", "c-2", "c-3")
    assert reap(tools, lambda _: True).troubles == ()
    assert stirred_campaigns(tools.store) == ()


def test_old_marks_are_looked_at_again_a_few_at_a_time(tools: Toolkit, monkeypatch: pytest.MonkeyPatch) -> None:
    reap(tools, lambda _: True)
    tools.store.write(layout.DATABASE.key("c-2", KEY.cell_id, 1), b"")  # as an older Plimsoll does, which has no marks
    later = tools.clock.now() + LOOKED_AT_AGAIN + timedelta(minutes=1)
    assert campaigns_to_look_at(tools.store, tools.clock.now()) == ()
    assert campaigns_to_look_at(tools.store, later) == ("c-1", "c-2", "c-3")
    monkeypatch.setattr(at_rest, "AT_A_TIME", 2)
    assert len(campaigns_to_look_at(tools.store, later)) == 2
    monkeypatch.setattr(at_rest, "LOOKED_AT_AGAIN", timedelta(0))
    monkeypatch.setattr(at_rest, "AT_A_TIME", 3)
    reap(tools, lambda _: True)
    assert stirred_campaigns(tools.store) == ("c-2",)


def test_a_campaign_that_begins_something_during_the_look_keeps_its_place(tools: Toolkit, clock: SteppingClock) -> None:
    class Stirring(Counting):
        def folders(self, prefix: str) -> Any:
            return self._store.folders(prefix)

        def read(self, key: str) -> Any:
            if "eu-west-1" not in key and key.startswith(".at-rest/c-3/"):
                unmark(self._store, "c-3")
            return self._store.read(key)

    reap(tools, lambda _: True)
    found = StoredPlaces(Stirring(tools.store), Outage(clock)).known("ec2")
    assert {"region": "eu-west-1"} in found.options


def test_a_definition_that_changes_wakes_its_campaign(tools: Toolkit, installation: Installation) -> None:
    reap(tools, lambda _: True)
    installation.open_campaign(of_region("eu-west-1").model_copy(update={"description": "Anew"}), "c-3")
    assert stirred_campaigns(tools.store) == ("c-3",)


def test_a_campaign_with_an_open_account_is_not_at_rest(tools: Toolkit, installation: Installation) -> None:
    free = HostRate(kind="small", vcpus=2, usd_per_hour=None)
    layout.PRICES.write(tools.store, "c-2", Tariff(node=free, load=free, source="a test"), KEY.cell_id, 1)
    assert open_accounts(installation.open_campaign(of_region("us-east-1"), "c-2")) != ()
    reap(replace(tools, providers={}), lambda _: True)
    assert stirred_campaigns(tools.store) == ("c-2",)


def test_a_deleted_campaign_leaves_no_mark(tools: Toolkit) -> None:
    reap(tools, lambda _: True)
    delete_campaign(tools, "c-3", "ada")
    assert sorted(marks(tools.store)) == ["c-1", "c-2"]
