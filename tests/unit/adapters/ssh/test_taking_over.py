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
from plimsoll.domain.cluster import Cluster
from plimsoll.domain.errors import ProviderError

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
