"""The provider of load hosts, and what it makes of marks that somebody may have planted."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.no_observers import NO_OBSERVERS
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.external import endpoint_options
from plimsoll.adapters.external.endpoint import Endpoints
from plimsoll.adapters.external.keyspaces import Mark
from plimsoll.adapters.providers import external as asking
from plimsoll.adapters.providers.external import ExternalProvider, Reach
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo, HostsSilent, SetUp
from plimsoll.domain.text.errors import ProviderError, Unreachable
from plimsoll.ports.host import CommandResult
from plimsoll.ports.provider import Places

AT = datetime(2026, 1, 31, tzinfo=UTC)
MARK = Mark(cluster="demo/a-00100-r1/1", store="here", owner="me", made_at=AT, expires_at=AT + timedelta(hours=1))


class NoHosts:
    """The load hosts' provider, which has none."""

    name = "local"

    def __init__(self) -> None:
        self.destroyed: list[ClusterId] = []

    def at(self, _: Places) -> "NoHosts":
        return self

    def account(self) -> str:
        return ""

    def clusters(self) -> list[Any]:
        return []

    def find(self, _: ClusterId) -> None:
        return None

    def destroy(self, cluster_id: ClusterId) -> None:
        self.destroyed.append(cluster_id)


@dataclass
class Databases:
    """Databases by their only contact point: the mark of the keyspace that is asked for, or what goes wrong."""

    marks: Mapping[str, Mark | Exception]
    asked: list[str] = field(default_factory=list)
    at: str = ""

    def of(self, options: Any) -> "Databases":
        return replace(self, at=options.contact_points[0])

    def any_session(self) -> Any:
        self.asked.append(self.at)
        return nullcontext(self)

    def rows(self, _: str) -> list[Mapping[str, str]]:
        found = self.marks[self.at]
        if isinstance(found, Exception):
            raise found
        return [{"comment": found.model_dump_json()}]


def options_of(address: str) -> Mapping[str, Any]:
    return {"contact_points": [address], "data_centre": "dc1", "keyspace": "bench"}


def provider(databases: Databases, places: Places) -> ExternalProvider:
    nothing: Any = None
    reach = Reach(cast(Any, databases), endpoints=nothing, set_ups=nothing, clock=nothing, store="here")
    return ExternalProvider(reach, {"local": cast(Any, NoHosts())}, NO_OBSERVERS).at(places)


def everywhere(*addresses: str, campaigns: tuple[str, ...] = (), done: tuple[str, ...] = ()) -> Places:
    return Places(tuple(map(options_of, addresses)), campaigns=campaigns, done=frozenset(done))


def test_a_mark_names_a_cluster_of_a_campaign_that_has_its_keyspace_there() -> None:
    databases = Databases({"a": MARK})
    [cluster] = provider(databases, everywhere("a", campaigns=("demo",))).clusters()
    assert (str(cluster.id), cluster.hosts, cluster.owner) == (MARK.cluster, (), "me")


@pytest.mark.parametrize(
    "mark", [MARK.model_copy(update={"store": "elsewhere"}), MARK.model_copy(update={"cluster": "other/b-1-r1/1"})]
)
def test_a_mark_that_somebody_planted_names_none(mark: Mark) -> None:
    assert provider(Databases({"a": mark}), everywhere("a", campaigns=("demo",))).clusters() == []


def test_nobody_logs_in_where_nothing_can_be_left() -> None:
    databases = Databases({"a": MARK, "b": MARK})
    places = everywhere("a", "b", "a", campaigns=("old", "demo", "older"), done=("old", "older"))
    assert [str(one.id) for one in provider(databases, places).clusters()] == [MARK.cluster]
    assert databases.asked == ["b"]


def test_options_are_read_once_however_many_campaigns_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Any]()

    def read(written: Mapping[str, object]) -> Any:
        asked.append(written)
        return endpoint_options.read_options(written)

    monkeypatch.setattr(asking, "read_options", read)
    databases = Databases({"a": MARK, "b": MARK})
    bound = provider(databases, everywhere("a", "b", "a", campaigns=("demo", "other", "older")))
    bound.clusters()
    bound.clusters()
    assert len(asked) == 3
    assert databases.asked == ["a", "b"] * 2


@pytest.mark.parametrize("broken", [ProviderError("is away", where="a"), RecursionError("too deep"), ValueError("odd")])
def test_a_database_that_fails_keeps_no_other_from_being_asked(broken: Exception) -> None:
    databases = Databases({"a": broken, "b": MARK})
    places = everywhere("a", "b", campaigns=("other", "demo"))
    with pytest.raises(HostsSilent, match=r"^a: .*(is away|too deep|odd)") as silent:
        provider(databases, places).clusters()
    assert [str(one.id) for one in silent.value.clusters] == [MARK.cluster]
    with pytest.raises(ProviderError, match=r"is away|too deep|odd"):
        provider(databases, places).destroy(ClusterId.parse("demo/a-00100-r1/2"))
    assert databases.asked[-2:] == ["a", "b"]


def test_whose_keyspace_is_there_is_told_whoever_it_is() -> None:
    occupant = provider(Databases({"a": MARK.model_copy(update={"store": "elsewhere"})}), everywhere("a")).occupant()
    assert occupant is not None
    assert (str(occupant.cluster), occupant.store, occupant.is_ours) == (MARK.cluster, "elsewhere", False)


class SetUps:
    """A set-up of every cluster, until one is forgotten."""

    def __init__(self) -> None:
        self.addresses: tuple[str, ...] = ("db:1",)

    def of(self, _: ClusterId) -> SetUp | None:
        return SetUp(own="plimsoll_0123456789ab", addresses=self.addresses) if self.addresses else None

    def forget(self, _: ClusterId) -> None:
        self.addresses = ()


class LoadHosts(NoHosts):
    """Load hosts that can be had, of which none was there."""

    def __init__(self, host: ScriptedHost) -> None:
        super().__init__()
        self.own = host

    def ensure(self, request: ClusterRequest) -> Cluster:
        times = {"created_at": AT, "expires_at": request.expires_at}
        return Cluster(id=request.id, owner=request.owner, provider="local", hosts=(self.own.info,), **times)

    def host(self, *_: object) -> ScriptedHost:
        return self.own


ENDPOINT = {"addresses": ["db:1"], "ready": "ready", "version": "a", "owned": "owned {own}", "clean_up": ["drop {own}"]}


@pytest.mark.parametrize(("exit_code", "left"), [(0, True), (1, False)])
def test_what_a_lost_load_host_left_in_an_endpoint_is_removed_from_here(
    tmp_path: Path, exit_code: int, left: bool
) -> None:
    host = ScriptedHost(tmp_path, HostInfo(name="load", role="load", address="127.0.0.1"))
    host.command = lambda argv: CommandResult(exit_code if "owned" in argv else 0, "", "")
    nothing, hosts, set_ups, cluster = cast(Any, None), LoadHosts(host), SetUps(), ClusterId.parse("demo/a-1-r1/1")
    secrets = cast(Any, SimpleNamespace())
    endpoints = Endpoints(secrets, SteppingClock())
    reach = Reach(nothing, endpoints=endpoints, set_ups=cast(Any, set_ups), clock=SteppingClock(), store="here")
    made = ExternalProvider(reach, {"local": cast(Any, hosts)}, NO_OBSERVERS)
    made.at(Places((ENDPOINT,), campaigns=("other",))).destroy(cluster)
    assert (host.commands, bool(set_ups.addresses)) == ([], True)
    own = made.at(Places((ENDPOINT,), campaigns=("demo",)))
    if left:
        with pytest.raises(ProviderError, match=r"its load host is gone, and this machine could not .* left plimsoll_"):
            own.destroy(cluster)
    else:
        own.destroy(cluster)
    assert bool(set_ups.addresses) is left
    assert hosts.destroyed[-1] == cluster


class Lent(LoadHosts):
    """A load host that lives until it is destroyed, and that expires at that time."""

    def __init__(self, host: ScriptedHost, expires_at: datetime) -> None:
        super().__init__(host)
        self._expires_at = expires_at

    def find(self, cluster_id: ClusterId) -> Any:
        if cluster_id in self.destroyed:
            return None
        return cluster_of(str(cluster_id)).model_copy(update={"expires_at": self._expires_at})


@pytest.mark.parametrize(("after", "ended"), [(timedelta(minutes=-1), False), (timedelta(minutes=1), True)])
def test_a_load_host_stays_for_an_endpoint_that_can_not_be_cleaned_up_until_it_expires(
    tmp_path: Path, after: timedelta, ended: bool
) -> None:
    host = ScriptedHost(tmp_path, HostInfo(name="load", role="load", address="127.0.0.1"))
    host.command = lambda argv: CommandResult(1 if "drop" in argv else 0, "", "is away")
    nothing, set_ups, cluster, clock = cast(Any, None), SetUps(), ClusterId.parse("demo/a-1-r1/1"), SteppingClock()
    hosts = Lent(host, expires_at=clock.now() - after)
    endpoints = Endpoints(cast(Any, SimpleNamespace()), SteppingClock())
    reach = Reach(nothing, endpoints=endpoints, set_ups=cast(Any, set_ups), clock=clock, store="here")
    made = ExternalProvider(reach, {"local": cast(Any, hosts)}, NO_OBSERVERS)
    with pytest.raises(ProviderError):
        made.at(Places((ENDPOINT,), campaigns=("demo",))).destroy(cluster)
    assert (hosts.destroyed == [cluster], bool(set_ups.addresses)) == (ended, True)


@pytest.mark.parametrize("reached", [True, False])
def test_load_hosts_that_are_left_of_several_end_before_an_endpoint_is_cleaned_up_from_here(
    tmp_path: Path, reached: bool
) -> None:
    """No `find` shows them, and they may still load it."""
    own = ScriptedHost(tmp_path, HostInfo(name="load", role="load", address="127.0.0.1"))
    hosts, set_ups, cluster = LoadHosts(own), SetUps(), ClusterId.parse("demo/a-1-r1/1")
    rest, destroyed_before = NoHosts(), list[bool]()

    def command(argv: Sequence[str]) -> CommandResult:
        destroyed_before.append(cluster in rest.destroyed)
        return CommandResult(1 if "owned" in argv or not reached else 0, "", "no route")

    own.command = command
    commands = {"launch": ["a"], "list": ["b"], "end": ["c"]}
    options = {**ENDPOINT, "load_hosts": {"provider": "command", "options": commands}}
    endpoints = Endpoints(cast(Any, SimpleNamespace()), SteppingClock())
    reach = Reach(cast(Any, None), endpoints=endpoints, set_ups=cast(Any, set_ups), clock=SteppingClock(), store="here")
    made = ExternalProvider(reach, {"local": cast(Any, hosts), "command": cast(Any, rest)}, NO_OBSERVERS)
    with nullcontext() if reached else pytest.raises(ProviderError, match="could not clean up in its place"):
        made.at(Places((options,), campaigns=("demo",))).destroy(cluster)
    assert (destroyed_before[0], all(destroyed_before), bool(set_ups.addresses)) == (True, True, not reached)


class TwoHosts(Lent):
    """Two load hosts, of which the first can't be reached."""

    def __init__(self, folder: Path, expires_at: datetime) -> None:
        infos = [HostInfo(name=name, role="load", address="127.0.0.1") for name in ("load", "load2")]
        self.hosts = {info.name: ScriptedHost(folder / info.name, info) for info in infos}
        super().__init__(self.hosts["load"], expires_at)

    def find(self, cluster_id: ClusterId) -> Any:
        found = super().find(cluster_id)
        return found and found.model_copy(update={"hosts": tuple(host.info for host in self.hosts.values())})

    def host(self, *named: Any) -> ScriptedHost:
        return self.hosts[named[1].name]


def test_the_loads_of_all_hosts_that_can_be_reached_are_ended_before_an_endpoint_is_cleaned_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, cluster, ended = SteppingClock(), ClusterId.parse("demo/a-1-r1/1"), list[str]()
    hosts, set_ups = TwoHosts(tmp_path, clock.now() + timedelta(hours=1)), SetUps()

    def end(host: ScriptedHost) -> None:
        if host.info.name == "load":
            raise Unreachable("can't be reached", where="host load")
        ended.append(host.info.name)

    monkeypatch.setattr(asking, "_end_jobs", end)
    endpoints = Endpoints(cast(Any, SimpleNamespace()), SteppingClock())
    reach = Reach(cast(Any, None), endpoints=endpoints, set_ups=cast(Any, set_ups), clock=clock, store="here")
    made = ExternalProvider(reach, {"local": cast(Any, hosts)}, NO_OBSERVERS)
    with pytest.raises(ProviderError, match="can't be reached"):
        made.at(Places((ENDPOINT,), campaigns=("demo",))).destroy(cluster)
    assert (ended, bool(set_ups.addresses), hosts.destroyed) == (["load2"], True, [])


class Lender(NoHosts):
    """Load hosts of two campaigns; the provider shows all that it has."""

    def clusters(self) -> list[Any]:
        return [cluster_of("plain/a-1-r1/1"), cluster_of("demo/a-1-r1/1")]


def cluster_of(name: str) -> Cluster:
    host, times = HostInfo(name="load", role="load", address="10.0.0.2"), {"created_at": AT, "expires_at": AT}
    return Cluster(id=ClusterId.parse(name), owner="me", provider="local", hosts=(host,), **times)


@pytest.mark.parametrize(
    ("places", "shown"),
    [
        (everywhere("a", campaigns=("demo",), done=("demo",)), ["demo"]),
        (everywhere("a", campaigns=("",), done=("",)), ["plain", "demo"]),
        (Places(), ["plain", "demo"]),
    ],
    ids=["known campaigns", "campaigns that are not known", "no database"],
)
def test_a_cluster_of_a_campaign_without_such_a_database_is_its_own_provider_s(
    places: Places, shown: list[str]
) -> None:
    nothing: Any = None
    reach = Reach(nothing, endpoints=nothing, set_ups=nothing, clock=nothing, store="here")
    bound = ExternalProvider(reach, {"local": cast(Any, Lender())}, NO_OBSERVERS).at(places)
    assert [cluster.id.campaign_id for cluster in bound.clusters()] == shown


def test_databases_share_addresses_that_are_written_alike() -> None:
    asked = [Places((options_of("a"),)), Places(({**options_of("a"), "port": 1},)), Places((ENDPOINT,)), Places()]
    shared = [provider(Databases({}), places).shared_addresses() for places in asked]
    assert shared == [{"a:9042"}, {"a:1"}, {"db:1"}, frozenset()]
