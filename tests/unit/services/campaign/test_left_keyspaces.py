"""A keyspace that an attempt has in a database of somebody else is told by the plan, with the way to remove it."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT

from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.provider import Occupant, Places
from plimsoll.services.campaign.open.runnable import problems

LEFT = Occupant("bench", ClusterId.parse("campaign/v1-001k-r1/1"), "here", is_ours=True, owner="me")


class Theirs:
    """A provider for a database of somebody else."""

    def __init__(self, hosts: Any, found: Occupant | Exception | None) -> None:
        self._hosts, self._found = hosts, found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hosts, name)

    def at(self, _: Places) -> "Theirs":
        return self

    def database(self) -> Any:
        raise AssertionError

    def keyspace(self) -> str:
        return "bench"

    def keeps_copies(self) -> bool:
        return True

    def occupant(self) -> Occupant | None:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


class Owners:
    def __init__(self, alive: bool | None) -> None:
        self._alive = alive

    def is_alive(self, _: str) -> bool | None:
        return self._alive

    def me(self) -> str:
        return "me"


def told(
    installation: Installation, found: Occupant | Exception | None, *, alive: bool | None = False, own: str = ""
) -> list[str]:
    installation.open_campaign(instant_definition())
    external = instant_definition().model_copy(update={"provider": ProviderChoice(name="external")})
    made: Any = Theirs(installation.toolkit.providers[INSTANT], found)
    owners: Any = Owners(alive)
    tools = replace(installation.toolkit, providers={"external": made}, owners=owners)
    return [str(one) for one in problems(tools, external, own) if "keyspace" in one.where]


@pytest.mark.parametrize(
    ("found", "alive", "words"),
    [
        (LEFT, False, "was left by campaign/v1-001k-r1/1, which nobody runs any more (`plimsoll clusters destroy"),
        (LEFT, True, "is in use by campaign/v1-001k-r1/1 of me (wait until that has ended; where it has, `plimsoll"),
        (LEFT, None, "is in use by campaign/v1-001k-r1/1 of me (wait until"),
        (replace(LEFT, cluster=ClusterId.parse("gone/a-1-r1/1")), None, "(drop it by hand: `DROP KEYSPACE bench`"),
        (replace(LEFT, store="there", is_ours=False), None, "of another store, there (wait until"),
    ],
)
def test_whose_keyspace_is_in_the_way_and_how_to_remove_it(
    found: Occupant, alive: bool | None, words: str, installation: Installation
) -> None:
    [problem] = told(installation, found, alive=alive)
    assert words in problem


@pytest.mark.parametrize("found", [None, ProviderError("is away"), LEFT])
def test_what_is_not_in_the_way_of_the_campaign_itself(found: Any, installation: Installation) -> None:
    assert told(installation, found, own="campaign") == []
