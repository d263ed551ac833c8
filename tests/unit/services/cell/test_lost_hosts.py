"""What a provider says of lost hosts is in the attempt's reason."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT, InstantLoadGenerator, InstantProvider

from plimsoll.domain.text.errors import DeployError, HostError, ProviderError, Unreachable
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempt_state import failure_of, failures_recorded
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.steps.steps import LoadPoller, step

SPOT = "i-1 is terminated: Server.SpotInstanceTermination: Spot instance termination"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AttemptContext:
    installation = Installation(tmp_path)
    installation.open_campaign(instant_definition())
    begun = begin(installation.toolkit, "campaign", "v1-001k-r1", "owner")
    actions.provision(begun)
    monkeypatch.setattr(InstantProvider, "why_gone", lambda *_: SPOT)
    return begun


@pytest.fixture
def lost(work: AttemptContext) -> AttemptContext:
    work.toolkit.providers[INSTANT].destroy(work.cluster_id)
    return work


def test_under_load_it_is_the_load_s_reason(lost: AttemptContext) -> None:
    assert loading.poll_load(lost).reason == f"the cluster is gone: {SPOT}"


@pytest.fixture
def unasked(work: AttemptContext, monkeypatch: pytest.MonkeyPatch) -> AttemptContext:
    """Provide an attempt whose provider can't be asked for its hosts."""

    def away(*_: object) -> NoReturn:
        raise ProviderError("ec2 can't be reached")

    monkeypatch.setattr(InstantProvider, "find", away)
    return work


def test_a_load_goes_on_while_its_hosts_answer_although_their_provider_does_not(
    unasked: AttemptContext, clock: SteppingClock
) -> None:
    actions.deploy(unasked)
    loading.start_load(unasked)
    polling = step("load").polling
    assert polling is not None
    tools = replace(unasked.toolkit, clock=clock)
    poller = LoadPoller(replace(unasked, toolkit=tools), polling)
    for _ in range(9):
        clock.at += timedelta(minutes=1)
        seen = poller.look()
        assert isinstance(seen, LoadStatus)
        assert seen.state in ("running", "complete"), seen
    loading.stop_load(unasked)


def test_where_neither_provider_nor_hosts_answer_the_load_is_lost(
    unasked: AttemptContext, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: object) -> NoReturn:
        raise Unreachable("host load can't be reached")

    monkeypatch.setattr(InstantLoadGenerator, "status", silent)
    polling = step("load").polling
    assert polling is not None
    poller = LoadPoller(replace(unasked, toolkit=replace(unasked.toolkit, clock=clock)), polling)
    assert isinstance(poller.look(), str)
    clock.at += timedelta(minutes=6)
    seen = poller.look()
    assert isinstance(seen, LoadStatus)
    assert (seen.state, seen.reason) == ("failed", "out of reach for 0:05:00: host load can't be reached")


def test_between_steps_it_is_in_the_error(lost: AttemptContext) -> None:
    with pytest.raises(ProviderError, match=f"the cluster is gone: {SPOT}"):
        lost.cluster()


@pytest.mark.parametrize("error", [HostError("does not answer"), DeployError("node2 did not start")])
def test_where_a_host_does_not_answer_it_is_recorded_beside_that(work: AttemptContext, error: Exception) -> None:
    with pytest.raises(type(error)), failures_recorded(work, "deploy"):
        raise error
    assert failure_of(work.toolkit.store, work.key) == f"deploy: {error}\n  Hosts are gone: {SPOT}"


def test_no_advice_is_given_on_how_to_reach_a_host_that_is_gone(work: AttemptContext) -> None:
    with pytest.raises(HostError), failures_recorded(work, "deploy"):
        raise HostError("can't be reached", where="host node1", mend="see that sshd listens there")
    assert failure_of(work.toolkit.store, work.key) == f"deploy: host node1: can't be reached\n  Hosts are gone: {SPOT}"


def test_a_provider_that_can_not_be_asked_hides_no_reason(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> str:
        raise ProviderError("does not answer")

    monkeypatch.setattr(InstantProvider, "why_gone", away)
    with pytest.raises(HostError), failures_recorded(work, "deploy"):
        raise HostError("does not answer")
    assert failure_of(work.toolkit.store, work.key) == "deploy: does not answer"


def test_an_error_that_nobody_foresaw_is_recorded_with_its_kind(work: AttemptContext) -> None:
    with pytest.raises(KeyError), failures_recorded(work, "deploy"):
        raise KeyError("v1")
    assert failure_of(work.toolkit.store, work.key) == "deploy: KeyError: 'v1'"
