"""Groups whose lease has expired, and what becomes of it when another cluster asks for the group."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.adapters.ssh.leased import HOSTS, LOAD, NODES, asked_for

from plimsoll.adapters.hosts.onhost import lease
from plimsoll.adapters.providers.ssh import SshProvider
from plimsoll.adapters.providers.ssh.member import Member
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.text.errors import ProviderError

OTHER = HOSTS.numbered(2)


@pytest.fixture
def expired(provider: SshProvider) -> Cluster:
    """A cluster that is past its expiry."""
    past = datetime.now(UTC) - timedelta(hours=1)
    return provider.ensure(asked_for(provider).model_copy(update={"expires_at": past}))


def when_seen(patch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Let that happen once, right after somebody has seen the lease of the first load host by asking for it."""
    ask, waiting = Member.ask, [happens]

    def asked(member: Member, command: str, *rest: Any, **request: Any) -> Any:
        answer = ask(member, command, *rest, **request)
        if command == "lease-take" and member.options.address == LOAD and waiting:
            waiting.pop()()
        return answer

    patch.setattr(Member, "ask", asked)


@pytest.mark.usefixtures("expired")
def test_a_group_is_taken_over_from_a_cluster_that_is_past_its_expiry(provider: SshProvider) -> None:
    taken = provider.ensure(asked_for(provider, hosts=OTHER))
    assert provider.clusters() == [taken]
    assert provider.find(HOSTS) is None


def test_a_cluster_that_is_renewed_after_another_saw_it_expired_keeps_its_hosts_and_what_runs_there(
    provider: SshProvider, expired: Cluster, asked: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed: list[Cluster] = []
    when_seen(monkeypatch, lambda: renewed.append(provider.ensure(asked_for(provider))))
    asked.clear()
    with pytest.raises(ProviderError, match="is in use by demo-1/hosts/1"):
        provider.ensure(asked_for(provider, hosts=OTHER))
    assert renewed == [provider.find(HOSTS)]
    assert renewed[0].hosts == expired.hosts
    assert not [command for command, _ in asked if command == "clean"]


@pytest.mark.usefixtures("expired")
def test_hosts_that_are_given_back_after_another_saw_them_expired_are_taken(
    provider: SshProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    when_seen(monkeypatch, lambda: provider.destroy(HOSTS))
    taken = provider.ensure(asked_for(provider, hosts=OTHER))
    assert provider.clusters() == [taken]


@pytest.mark.usefixtures("expired")
def test_where_something_resists_the_group_is_not_taken_and_the_reason_is_said(
    provider: SshProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Member.ask

    def asked(member: Member, command: str, *rest: Any, **request: Any) -> Any:
        if command != "lease-take-over":
            return ask(member, command, *rest, **request)
        left = ["process 7 (java) runs"]
        return lease.take_over(tmp_path / member.options.address, request["lease"], request["seen"], lambda: left)

    monkeypatch.setattr(Member, "ask", asked)
    with pytest.raises(ProviderError, match=r"it is not clean: process 7 \(java\) runs"):
        provider.ensure(asked_for(provider, hosts=OTHER))
    assert [cluster.id for cluster in provider.clusters()] == [HOSTS]


@pytest.mark.usefixtures("expired")
def test_a_takeover_that_was_killed_as_it_cleaned_leaves_a_cluster_that_is_made_whole_again(
    provider: SshProvider, asked: list[tuple[str, str]], tmp_path: Path
) -> None:
    seen = lease.read(tmp_path / LOAD)["lease"]

    def killed() -> list[str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lease.take_over(tmp_path / LOAD, {"key": str(OTHER)}, seen, killed)
    assert provider.find(HOSTS) is None
    asked.clear()
    assert provider.ensure(asked_for(provider)) == provider.find(HOSTS)
    assert {host for command, host in asked if command == "clean"} == {LOAD, *NODES[:2]}


HOUR = timedelta(hours=1)


def test_hosts_are_held_until_the_data_on_them_end_and_no_longer(provider: SshProvider) -> None:
    past = asked_for(provider).model_copy(update={"expires_at": datetime.now(UTC) - HOUR, "kept_beyond": 2 * HOUR})
    kept = provider.ensure(past)
    assert provider.find(HOSTS) == kept
    assert kept.expires_at == past.expires_at
    assert [one.expires_at for one in provider.clusters()] == [past.expires_at + 2 * HOUR]
    with pytest.raises(ProviderError, match=f"until {past.expires_at + 2 * HOUR:%Y-%m-%d %H:%M} UTC"):
        provider.ensure(asked_for(provider, hosts=OTHER))


def test_hosts_whose_data_have_ended_are_taken_over(provider: SshProvider) -> None:
    past = datetime.now(UTC) - 3 * HOUR
    provider.ensure(asked_for(provider).model_copy(update={"expires_at": past, "kept_beyond": HOUR}))
    assert provider.ensure(asked_for(provider, hosts=OTHER)).id == OTHER


def test_each_cell_on_the_data_prolongs_their_hosts(provider: SshProvider, tmp_path: Path) -> None:
    first = asked_for(provider).model_copy(update={"kept_beyond": 2 * HOUR})
    provider.ensure(first)
    later = first.model_copy(update={"expires_at": first.expires_at + 5 * HOUR, "kept_beyond": HOUR})
    for request, until in ((later, later.expires_at + HOUR), (first, later.expires_at + 2 * HOUR)):
        provider.ensure(request)
        assert {one.expires_at for one in provider.clusters()} == {until}
    held = [lease.read(tmp_path / host)["lease"]["data_until"] for host in (LOAD, *NODES[:2])]
    assert len(set(held)) == 1


def test_a_lease_without_data_has_no_time_that_an_earlier_version_does_not_know(
    provider: SshProvider, tmp_path: Path
) -> None:
    provider.ensure(asked_for(provider))
    assert set(lease.read(tmp_path / LOAD)["lease"]) == {"key", "cluster", "ready"}
