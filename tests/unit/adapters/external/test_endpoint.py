"""What a cell makes in an endpoint is made once, found by `owned` alone, and removed whatever became of its process."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.external.endpoint import Endpoints
from plimsoll.adapters.external.endpoint_options import EndpointOptions
from plimsoll.adapters.providers.external.made import CellOfEndpoint
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest, HostInfo, SetUp
from plimsoll.domain.text.errors import ProviderError, SecretError
from plimsoll.ports.host import CommandResult
from plimsoll.ports.secrets import DatabaseAccess

CELL = ClusterId.parse("staging/a-00100-r1/1")
OWN = "plimsoll_0123456789ab"
OPTIONS: dict[str, Any] = {
    "addresses": ["db:5432"],
    "connection": "staging",
    "secrets": {"env": {"PASSWORD": "password"}},
    "ready": "ready",
    "version": "version",
    "facts": "facts",
    "set_up": ["make {own}"],
    "owned": "owned {own}",
    "clean_up": ["drop {own}"],
}


class SetUps:
    """In memory."""

    def __init__(self) -> None:
        self.known: dict[ClusterId, SetUp] = {}

    def settle(self, cluster_id: ClusterId, set_up: SetUp) -> SetUp:
        return self.known.setdefault(cluster_id, set_up)

    def of(self, cluster_id: ClusterId) -> SetUp | None:
        return self.known.get(cluster_id)

    def forget(self, cluster_id: ClusterId) -> None:
        self.known.pop(cluster_id, None)


class Secrets:
    """One connection."""

    def __init__(self, access: DatabaseAccess) -> None:
        self.access = access

    def database(self, _: str) -> DatabaseAccess:
        return self.access


class Site:
    """An endpoint as its commands see it: what is there, what was run, and the answers that a test changes."""

    def __init__(self, folder: Path) -> None:
        self.host = ScriptedHost(folder, HostInfo(name="load", role="load", address="127.0.0.1"))
        self.other = ScriptedHost(folder / "other", HostInfo(name="load2", role="load", address="127.0.0.2"))
        self.host.command = self._run
        self.other.command = self._run_beside
        self.asked_beside: list[str] = []
        self.there: set[str] = set()
        self.ran: list[str] = []
        self.answers: dict[str, CommandResult] = {}
        self.set_ups = SetUps()
        self.access = DatabaseAccess("me", "hunter2")

    def cell(self, **changes: Any) -> CellOfEndpoint:
        options = EndpointOptions.model_validate({**OPTIONS, **changes})
        endpoints = Endpoints(cast(Any, Secrets(self.access)), SteppingClock())
        return CellOfEndpoint(options, endpoints, self.set_ups)

    def make(self, **changes: Any) -> str:
        request = ClusterRequest(id=CELL, owner="me", nodes=0, expires_at=BEGAN + timedelta(hours=1))
        self.cell(**changes).make(request, [self.host, self.other])
        return self.set_ups.known[CELL].own

    def began(self) -> None:
        """Leave what a process does that died before it had set up."""
        self.set_ups.settle(CELL, SetUp(own=OWN, addresses=("db:5432",)))

    def _run_beside(self, argv: Sequence[str]) -> CommandResult:
        words = argv[argv.index("timeout") + 3 :]
        self.asked_beside.append(words[0])
        return self.answers.get(f"{words[0]} beside", CommandResult(0, "", ""))

    def _run(self, argv: Sequence[str]) -> CommandResult:
        words = argv[argv.index("timeout") + 3 :]
        self.ran.append(words[0])
        if words[0] in self.answers:
            return self.answers[words[0]]
        if words[0] == "make":
            self.there.add(words[1])
        if words[0] == "drop":
            self.there.discard(words[1])
        return CommandResult(int(words[0] == "owned" and words[1] not in self.there), "", "")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_it_is_made_once_and_removed(site: Site) -> None:
    own = site.make()
    assert site.make() == own
    assert (site.there, site.ran.count("make")) == ({own}, 1)
    site.cell().clean_up(CELL, site.host)
    assert (site.there, site.set_ups.known) == (set(), {})
    ran = len(site.ran)
    site.cell().clean_up(CELL, site.host)
    assert len(site.ran) == ran


def test_each_load_host_is_asked_whether_it_is_ready_and_the_first_sets_it_up(site: Site) -> None:
    site.make()
    assert set(site.asked_beside) == {"ready"}
    site.answers["ready beside"] = CommandResult(2, "", "no route")
    with pytest.raises(ProviderError, match="see whether it can be reached from load2"):
        site.make()


def test_what_a_process_made_that_died_is_removed_before_it_is_made_anew(site: Site) -> None:
    site.began()
    site.there.add(OWN)
    assert site.make() == OWN
    assert site.ran.index("drop") < site.ran.index("make")
    assert site.there == {OWN}


def test_nothing_is_removed_that_owned_does_not_find(site: Site) -> None:
    site.began()
    site.cell().clean_up(CELL, site.host)
    assert "drop" not in site.ran


def test_nothing_is_asked_at_another_endpoint_than_the_cell_s(site: Site) -> None:
    site.began()
    site.cell(addresses=["other:5432"]).clean_up(CELL, site.host)
    assert (site.ran, list(site.set_ups.known)) == ([], [CELL])


def test_an_owned_that_always_says_yes_is_refused_before_anything_is_made(site: Site) -> None:
    site.answers["owned"] = CommandResult(0, "", "")
    with pytest.raises(ProviderError, match="is there, which nobody has made yet"):
        site.make()
    assert (site.set_ups.known, site.ran) == ({}, ["ready", "owned"])


@pytest.mark.parametrize(
    ("command", "answer", "why"),
    [
        ("owned", CommandResult(2, "", "no route"), "can't tell whether .* ended with exit code 2: no route"),
        ("drop", CommandResult(0, "", ""), "left plimsoll_.* there, as `owned` finds"),
        ("drop", CommandResult(3, "", "in use"), "clean_up.0.: ended with exit code 3: in use"),
        ("ready", CommandResult(124, "", ""), "db:5432 is not ready: did not end in time"),
    ],
)
def test_what_can_t_be_removed_is_named_and_stays_known(
    site: Site, command: str, answer: CommandResult, why: str
) -> None:
    site.make()
    site.answers[command] = answer
    with pytest.raises(ProviderError, match=why):
        site.cell().clean_up(CELL, site.host)
    assert list(site.set_ups.known) == [CELL]


def test_a_set_up_that_owned_does_not_find_is_refused(site: Site) -> None:
    site.answers["make"] = CommandResult(0, "", "")
    with pytest.raises(ProviderError, match=r"does not find plimsoll_.* after `set_up`"):
        site.make()


def test_it_tells_of_itself_and_never_the_password(site: Site) -> None:
    site.answers["version"] = CommandResult(0, "\n 16.2 with hunter2\nmore", "")
    site.answers["facts"] = CommandResult(0, json.dumps({"buffers": "16MB", "connections": 100}), "")
    [node] = site.cell().endpoints.of(site.cell().options).nodes(site.host)
    assert (node.address, node.release_version) == ("db:5432", "16.2 with ***")
    assert node.facts == {"buffers": "16MB", "connections": "100"}
    site.answers["facts"] = CommandResult(0, "hunter2", "")
    with pytest.raises(ProviderError, match=r"facts: printed no JSON: '\*\*\*'"):
        site.cell().endpoints.of(site.cell().options).nodes(site.host)


def test_a_connection_without_the_part_is_told_with_its_place(site: Site) -> None:
    site.access = DatabaseAccess("me")
    with pytest.raises(SecretError, match="has no password") as refused:
        site.cell().for_clients()
    assert "login and password of the connection" in refused.value.mend


def test_what_clients_are_given_shows_no_secret(site: Site) -> None:
    given = site.cell(environment={"PORT": "{port}"}).for_clients()
    assert given.secrets.env == {"PORT": "5432", "PASSWORD": "hunter2"}
    assert "hunter2" not in repr(given)


def test_a_definition_with_another_number_of_nodes_is_told(site: Site) -> None:
    [problem] = site.cell(load_hosts={"provider": "ssh"}).problems(3)
    assert (problem.where, problem.mend) == ("system.nodes", "write 1")


def test_a_connection_with_more_than_a_command_can_be_given_is_told_before_anything_is_made(site: Site) -> None:
    site.access = DatabaseAccess("me", "x" * 70_000)
    [problem] = site.cell(load_hosts={"provider": "ssh"}).problems(1)
    assert (problem.where, "64 KiB" in problem.what) == ("provider.options.connection", True)
