"""The provider of load hosts, and what it makes of marks that somebody may have planted."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from plimsoll.adapters.external import endpoint_options
from plimsoll.adapters.external.keyspaces import Mark
from plimsoll.adapters.providers import external as asking
from plimsoll.adapters.providers.external import ExternalProvider, Reach
from plimsoll.domain.hosts.cluster import ClusterId, HostsSilent
from plimsoll.domain.text.errors import ProviderError
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
    return ExternalProvider(reach, {"local": cast(Any, NoHosts())}).at(places)


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


class EveryoneSetUp:
    """Set-ups of every cluster."""

    def is_noted(self, _: ClusterId) -> bool:
        return True


def test_hosts_stay_until_an_endpoint_is_clean_and_others_are_not_asked_about_it() -> None:
    options = {"addresses": ["db:1"], "ready": "a", "version": "a", "owned": "a {own}", "clean_up": ["a {own}"]}
    nothing, hosts, cluster = cast(Any, None), NoHosts(), ClusterId.parse("demo/a-00100-r1/1")
    reach = Reach(nothing, endpoints=nothing, set_ups=cast(Any, EveryoneSetUp()), clock=nothing, store="here")
    made = ExternalProvider(reach, {"local": cast(Any, hosts)})
    with pytest.raises(ProviderError, match="its load host is gone"):
        made.at(Places((options,), campaigns=("demo",))).destroy(cluster)
    assert hosts.destroyed == []
    made.at(Places((options,), campaigns=("other",))).destroy(cluster)
    assert hosts.destroyed == [cluster]
