"""A connection that leads to another account than the one in which hosts of the campaign live is refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.paid import PaidProvider
from tests.unit.services.spending.paid_campaign import HOUR, opened, start

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import HostInfo, Launch
from plimsoll.domain.text.errors import ProviderError, Refused
from plimsoll.services.campaign.open.creation import open_campaign
from plimsoll.services.campaign.open.request import Request
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.paid_hosts import StoredLaunches, account_of
from plimsoll.services.retries import Outage
from plimsoll.services.toolkit import Toolkit

HOST = HostInfo(name="node1", role="node", address="10.0.0.1", since=BEGAN, facts={"instance_id": "i-1"})


class InAccount(PaidProvider):
    """Hosts of an account; `said`: the account that the connection leads to, or why that can't be told."""

    said: str | ProviderError = "222"

    def account(self) -> str:
        if isinstance(self.said, ProviderError):
            raise self.said
        return self.said


@pytest.fixture
def connected(tools: Toolkit, installation: Installation, clock: SteppingClock) -> Callable[[Any], Toolkit]:
    def made(said: str | ProviderError) -> Toolkit:
        provider = InAccount(installation.toolkit.providers["instant"], clock)
        provider.said = said
        return replace(tools, providers={"instant": provider})

    return made


@pytest.fixture
def work(tools: Toolkit, installation: Installation, clock: SteppingClock) -> AttemptContext:
    """Provide an attempt whose one recorded host lives in the account 111."""
    opened(installation, budget=None)
    begun = start(tools)
    launch = Launch(
        id=begun.cluster_id,
        token="0" * 16,
        role="node",
        place={"connection": "aws_first", "region": "us-east-1"},
        asked_at=BEGAN,
        expires_at=BEGAN + HOUR,
        ends_at=BEGAN + 2 * HOUR,
        owner="me",
        account="111",
        hosts=(HOST,),
    )
    StoredLaunches(tools.store, Outage(clock)).note(launch)
    return begun


def told(tools: Toolkit, definition: Definition) -> list[str]:
    return [str(one) for one in problems(tools, definition, "campaign") if "connection" in one.where]


def test_hosts_that_live_in_another_account_are_told_with_what_ends_them(
    connected: Callable[[Any], Toolkit], work: AttemptContext
) -> None:
    [found] = told(connected("222"), work.campaign.declared())
    assert found == (
        "provider.options.connection: leads to the account 222, and hosts of campaign/v1-001k-r1/1 live in 111 (they "
        "were launched through aws_first: write that, or first let them end; "
        "`plimsoll clusters destroy campaign/v1-001k-r1/1` ends them)"
    )


def test_nothing_is_planned_through_it(connected: Callable[[Any], Toolkit], work: AttemptContext) -> None:
    with pytest.raises(Refused, match="leads to the account 222"):
        open_campaign(connected("222"), work.campaign.declared(), Request(campaign_id="campaign"), BEGAN)


def test_the_same_account_goes_on_whatever_its_connection_is_called(
    connected: Callable[[Any], Toolkit], work: AttemptContext
) -> None:
    assert told(connected("111"), work.campaign.declared()) == []


@pytest.mark.parametrize("end", ["is on record", "has come by itself", "has closed the account"])
def test_hosts_that_have_ended_are_in_nobodys_way(
    connected: Callable[[Any], Toolkit], work: AttemptContext, clock: SteppingClock, end: str
) -> None:
    records = StoredLaunches(work.toolkit.store, Outage(clock))
    [launch] = records.of(work.cluster_id)
    clock.at += HOUR
    if end == "is on record":
        records.note(launch.model_copy(update={"hosts": (HOST.model_copy(update={"until": clock.now()}),)}))
    elif end == "has come by itself":
        assert told(connected("222"), work.campaign.declared())
        clock.at += HOUR
    else:
        key = account_of(work.cluster_id)
        work.toolkit.store.write(f"campaign/costs/{key.cell_id}/{key.attempt}/1.0.json", b"{}")
    assert told(connected("222"), work.campaign.declared()) == []


def test_where_the_account_can_not_be_told_the_connection_may_not_change(
    connected: Callable[[Any], Toolkit], work: AttemptContext
) -> None:
    tools = connected(ProviderError("no answer", where="AWS", mend="let this machine reach it"))
    assert told(tools, work.campaign.declared()) == []
    choice = work.part.provider.model_copy(update={"options": {"load_s": 0, "connection": "aws_second"}})
    [found] = told(tools, work.campaign.declared().model_copy(update={"provider": choice}))
    assert "can't be told, and hosts of the campaign live: AWS: no answer (let this machine reach it)" in found
