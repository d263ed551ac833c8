"""A ceiling ends a cell, and the campaign, whatever hangs."""

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.unit.services.spending.paid_campaign import HOUR, opened, start

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster, ClusterRequest
from plimsoll.domain.keys.timing import AtMost
from plimsoll.domain.text.errors import LoadError, Refused
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempt_state import note_phase
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.loading import latest_end
from plimsoll.services.hosts.reaping import on_this_machine, reap
from plimsoll.services.steps.steps import LoadPoller, step
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit


def bounded(installation: Installation, **at_most: object) -> CampaignStore:
    """Return a campaign of cells that are 4 USD an hour, and load for two hours."""
    made = opened(installation, budget=None).declared()
    ceiling = AtMost.model_validate(at_most)
    return installation.open_campaign(made.model_copy(update={"at_most": ceiling}), "bounded")


def begun(tools: Toolkit, cell_id: str = "v1-001k-r1") -> AttemptContext:
    work = begin(tools, "bounded", cell_id, "me")
    actions.provision(work)
    return work


def hanging(work: AttemptContext) -> LoadPoller:
    """Return a poller of a load that runs for ever."""
    polling = step("load").polling
    assert polling is not None
    return LoadPoller(work, replace(polling, look=lambda _: LoadStatus("running", "load", seconds_left=1.0)))


@pytest.mark.parametrize(
    ("at_most", "hours", "why"),
    [
        ({"cost": "9 USD"}, 2.25, "the campaign has cost 9.00 USD, and `at_most: {cost: 9 USD}` ends it there"),
        ({"cell": "150m"}, 2.5, "the cell has taken what `at_most: {cell: 150m}` allows it"),
    ],
)
def test_a_load_that_never_ends_is_ended(
    installation: Installation, tools: Toolkit, clock: SteppingClock, at_most: dict[str, str], hours: float, why: str
) -> None:
    bounded(installation, **at_most)
    work = begun(tools)
    poller = hanging(work)
    clock.at += hours * HOUR - timedelta(minutes=20)
    assert poller.look() == LoadStatus("running", "load", seconds_left=1.0)
    clock.at += timedelta(minutes=20)
    assert poller.look() == LoadStatus("failed", "load", reason=why)


def test_a_step_that_hung_past_the_ceiling_is_followed_by_no_other(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    bounded(installation, cost="9 USD")
    work = begun(tools)
    clock.at += 3 * HOUR
    for go_on in (actions.deploy, loading.start_load):
        with pytest.raises(LoadError, match=r"the campaign has cost 12\.00 USD"):
            go_on(work)


def test_no_cell_begins_that_would_exceed_the_ceiling(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    bounded(installation, cost="9 USD")
    work = begun(tools)
    clock.at += HOUR / 2
    actions.destroy(work)
    with pytest.raises(Refused, match=r"a cell costs 8\.00 USD; `at_most.cost` is 9 USD .*raise `at_most.cost`"):
        begin(tools, "bounded", "v1-002k-r1", "me")


@pytest.mark.parametrize(
    ("at_most", "hours"),
    [({"cell": "150m"}, 2.5), ({"cost": "9 USD"}, 2.25), ({"cell": "10h", "cost": "9 USD"}, 2.25)],
)
def test_hosts_end_by_themselves_at_the_ceiling_where_nobody_is_left_to_end_them(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch, at_most: dict[str, str], hours: float
) -> None:
    bounded(installation, **at_most)
    asked: list[ClusterRequest] = []
    provider = tools.providers["instant"]
    ensure = provider.ensure

    def noting(request: ClusterRequest) -> Cluster:
        asked.append(request)
        return ensure(request)

    monkeypatch.setattr(provider, "ensure", noting)
    work = begun(tools)
    assert asked[0].ends_at == work.attempt().started_at + hours * HOUR
    assert asked[0].expires_at <= work.attempt().started_at + 3 * HOUR


def test_a_ceiling_may_change_while_the_campaign_runs(installation: Installation) -> None:
    campaign = bounded(installation, cost="9 USD")
    raised = campaign.declared().model_copy(update={"at_most": AtMost.model_validate({"cost": "90 USD"})})
    assert campaign.open(raised).at_most == AtMost.model_validate({"cost": "90 USD"})


@pytest.mark.parametrize(
    ("at_most", "what"),
    [({}, "bounds nothing"), ({"cell": "2h"}, "leaves no time for a load of 2h"), ({"cost": "0 USD"}, "at_most.cost")],
)
def test_a_ceiling_that_lets_nothing_run_is_refused(
    installation: Installation, at_most: dict[str, str], what: str
) -> None:
    plain = opened(installation, budget=None).declared().model_dump(mode="json")
    with pytest.raises(ValueError, match=what):
        Definition.model_validate({**plain, "at_most": at_most})


def test_a_cell_beside_others_that_are_nearly_over_keeps_its_time(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    bounded(installation, cost="24 USD")
    first, second = begun(tools), begun(tools, "v1-002k-r1")
    note_phase(tools, second.key, "load")
    clock.at += 1.9 * HOUR
    actions.destroy(first)
    third = begun(tools, "v2-001k-r1")
    ends = latest_end(third)
    assert ends is not None
    assert ends - third.attempt().started_at >= 2 * HOUR


def test_who_ends_what_runs_on_this_machine_closes_no_account(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=None)
    work = start(tools)
    here = on_this_machine(replace(tools, providers={}))
    reaped = reap(here, lambda _: False)
    assert (reaped.destroyed, reaped.troubles) == ((), ())
    assert work.provider.find(work.cluster_id) is not None
