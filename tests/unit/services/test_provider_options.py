"""Where clusters may be, also while the store is out of reach."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.definition import ProviderChoice
from plimsoll.domain.errors import NotFound, StoreError
from plimsoll.ports.provider_options import PartlyKnown
from plimsoll.services import layout
from plimsoll.services.outage import Outage
from plimsoll.services.provider_options import StoredOptions


class Away:
    """A store that is out of reach, and counts who asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __getattr__(self, name: Any) -> Callable[..., Any]:
        def fail(*_: Any, **__: Any) -> None:
            self.asked += 1
            raise StoreError("can't be used: connection refused")

        return fail


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def definition(region: Any) -> Any:
    return instant_definition().model_copy(update={"provider": ProviderChoice(name="ec2", options={"region": region})})


def test_the_options_of_every_campaign_are_known(installation: Installation, clock: SteppingClock) -> None:
    installation.open_campaign(definition("us-east-1"))
    options = StoredOptions(installation.toolkit.store, Outage(clock))
    assert options.known("ec2") == [{"region": "us-east-1"}]
    assert options.known("ssh") == []
    assert options.of_campaign("campaign") == {"region": "us-east-1"}
    with pytest.raises(NotFound):
        options.of_campaign("another")


def test_without_the_store_definitions_at_hand_say_where_to_look(clock: SteppingClock) -> None:
    store = Away()
    options = StoredOptions(store, Outage(clock), lambda: [definition("eu-west-1"), instant_definition()])
    with pytest.raises(PartlyKnown, match="connection refused") as caught:
        options.known("ec2")
    assert caught.value.options == ({"region": "eu-west-1"},)


def test_a_store_out_of_reach_is_asked_once_a_minute(clock: SteppingClock) -> None:
    store = Away()
    options = StoredOptions(store, Outage(clock))
    for campaign in ("a", "b", "c"):
        with pytest.raises(StoreError):
            options.of_campaign(campaign)
    assert store.asked == 1
    clock.sleep(61)
    with pytest.raises(StoreError):
        options.of_campaign("a")
    assert store.asked == 2


def test_a_campaign_that_can_not_be_read_hides_no_other(installation: Installation, clock: SteppingClock) -> None:
    installation.open_campaign(definition("us-east-1"))
    store = installation.toolkit.store
    store.write(layout.definition_key("broken"), b"name: [")
    with pytest.raises(PartlyKnown, match="broken: ") as caught:
        StoredOptions(store, Outage(clock)).known("ec2")
    assert caught.value.options == ({"region": "us-east-1"},)
