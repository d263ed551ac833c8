"""Where clusters may be, also while the store is out of reach."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.unit.services.external_definition import external

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.text.errors import StoreError
from plimsoll.ports.provider import Places
from plimsoll.services.hosts.at_rest import note_left, note_used
from plimsoll.services.hosts.places import StoredPlaces, note_place
from plimsoll.services.retries import Outage
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore


class Away:
    """A store that is out of reach, and counts who asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __getattr__(self, name: Any) -> Callable[..., Any]:
        def fail(*_: Any, **__: Any) -> None:
            self.asked += 1
            raise StoreError("can't be used: connection refused")

        return fail


def definition(region: Any) -> Any:
    return instant_definition().model_copy(update={"provider": ProviderChoice(name="ec2", options={"region": region})})


def test_the_places_of_every_campaign_are_known(installation: Installation, clock: SteppingClock) -> None:
    installation.open_campaign(definition("us-east-1"))
    places = StoredPlaces(installation.toolkit.store, Outage(clock))
    assert places.known("ec2") == Places(({"region": "us-east-1"},), everywhere=True)
    assert places.of_campaign("ec2", "campaign") == Places(({"region": "us-east-1"},))
    assert places.known("ssh") == Places(everywhere=True)


def test_places_outlive_their_campaigns_and_a_campaign_that_is_gone_may_be_in_any_of_them(
    installation: Installation, clock: SteppingClock
) -> None:
    store: Any = installation.toolkit.store
    for region in ("us-east-1", "us-east-1", "eu-west-1"):
        installation.open_campaign(definition(region))
        note_place(store, definition(region))
        store.delete("campaign")
    lent = {"load_hosts": {"provider": "ec2", "options": {"region": "eu-north-1"}}}
    theirs = instant_definition().model_copy(update={"provider": ProviderChoice(name="external", options=lent)})
    note_place(store, resolve(theirs))
    for places in (StoredPlaces(store, Outage(clock)), StoredPlaces(store, Outage(clock))):
        found = places.known("ec2")
        assert {str(one["region"]) for one in found.options} == {"us-east-1", "eu-west-1", "eu-north-1"}
        assert (len(found.options), found.everywhere, found.unknown) == (3, True, "")
        assert places.of_campaign("ec2", "campaign") == found
        assert places.known("external") == Places(everywhere=True)


def test_a_damaged_note_of_a_place_is_named_and_hides_no_other(
    installation: Installation, clock: SteppingClock
) -> None:
    store: Any = installation.toolkit.store
    installation.open_campaign(definition("us-east-1"))
    store.write(layout.NOTED_PLACE.key("", "broken"), b"{")
    found = StoredPlaces(store, Outage(clock)).known("ec2")
    assert found.options == ({"region": "us-east-1"},)
    assert "broken.json" in found.unknown


def test_a_campaign_that_was_made_anew_elsewhere_is_looked_for_there(
    installation: Installation, clock: SteppingClock
) -> None:
    installation.open_campaign(definition("us-east-1"))
    store = installation.toolkit.store
    places = StoredPlaces(store, Outage(clock))
    assert places.of_campaign("ec2", "campaign") == Places(({"region": "us-east-1"},))
    store.delete("campaign")
    installation.open_campaign(definition("eu-west-1"))
    assert places.of_campaign("ec2", "campaign") == Places(({"region": "eu-west-1"},))
    assert places.known("ec2").options == ({"region": "eu-west-1"},)


def test_a_definition_is_parsed_again_only_if_its_text_has_changed(
    installation: Installation, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.open_campaign(definition("us-east-1"))
    places, texts = StoredPlaces(installation.toolkit.store, Outage(clock)), list[bytes]()
    parse = CampaignStore.parsed

    def noted(campaign: CampaignStore, text: bytes) -> Any:
        texts.append(text)
        return parse(campaign, text)

    monkeypatch.setattr(CampaignStore, "parsed", noted)
    for provider in ("ec2", "ssh", "local"):  # of hundreds of campaigns, each provider would take as long again
        places.known(provider)
    assert len(texts) == 1


def test_what_was_read_counts_while_the_store_is_out_of_reach(
    installation: Installation, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.open_campaign(definition("us-east-1"))
    store: Any = installation.toolkit.store
    places = StoredPlaces(store, Outage(clock))
    assert places.known("ec2").options == ({"region": "us-east-1"},)
    for name in ("read", "folders"):
        monkeypatch.setattr(store, name, Away().read)
    assert places.of_campaign("ec2", "campaign") == Places(({"region": "us-east-1"},))
    found = places.known("ec2")
    assert (found.options, "connection refused" in found.unknown) == (({"region": "us-east-1"},), True)


def test_clusters_of_a_campaign_that_the_store_has_lost_may_be_in_every_place(
    installation: Installation, clock: SteppingClock
) -> None:
    for name, region in (("one", "us-east-1"), ("two", "eu-west-1")):
        CampaignStore(installation.toolkit.store, name).open(definition(region))
    places = StoredPlaces(installation.toolkit.store, Outage(clock))
    everywhere = Places(({"region": "us-east-1"}, {"region": "eu-west-1"}), everywhere=True)
    assert places.of_campaign("ec2", "another") == everywhere
    assert places.of_campaign("ec2", "two") == Places(({"region": "eu-west-1"},))


def test_without_the_store_definitions_at_hand_say_where_to_look(clock: SteppingClock) -> None:
    away: Any = Away()
    places = StoredPlaces(away, Outage(clock), lambda: [definition("eu-west-1"), instant_definition()])
    for found in (places.known("ec2"), places.of_campaign("ec2", "campaign")):
        assert found.options == ({"region": "eu-west-1"},)
        assert "connection refused" in found.unknown


def test_a_store_out_of_reach_is_asked_once_a_minute(clock: SteppingClock) -> None:
    store: Any = Away()
    places = StoredPlaces(store, Outage(clock))
    for campaign in ("a", "b", "c"):
        assert places.of_campaign("ec2", campaign).unknown
    assert store.asked == 1
    clock.sleep(61)
    assert places.of_campaign("ec2", "a").unknown
    assert store.asked == 2


def test_a_campaign_that_can_not_be_read_hides_no_other(installation: Installation, clock: SteppingClock) -> None:
    installation.open_campaign(definition("us-east-1"))
    store = installation.toolkit.store
    store.write(layout.DEFINITION.key("broken"), b"name: [")
    found = StoredPlaces(store, Outage(clock)).known("ec2")
    assert found.options == ({"region": "us-east-1"},)
    assert "broken: " in found.unknown


def test_a_database_of_somebody_else_is_asked_only_while_an_attempt_may_have_left_something(
    installation: Installation, clock: SteppingClock
) -> None:
    store = installation.toolkit.store
    installation.open_campaign(external())
    cluster_id = ClusterId.parse("campaign/theirs-00100-r1/1")
    places = StoredPlaces(store, Outage(clock))
    assert places.known("external").done == {"campaign"}

    note_used(store, cluster_id)
    assert (places.known("external").campaigns, places.known("external").done) == (("campaign",), frozenset())

    note_left(store, cluster_id)
    assert places.known("external").done == {"campaign"}
    assert places.of_campaign("external", "campaign").done == frozenset()  # somebody named it


def test_no_database_is_asked_while_the_store_does_not_say_where_anything_is_left(clock: SteppingClock) -> None:
    away: Any = Away()
    found = StoredPlaces(away, Outage(clock), lambda: [external()]).known("external")
    assert found.unknown
    assert {*found.campaigns} == found.done == {""}
