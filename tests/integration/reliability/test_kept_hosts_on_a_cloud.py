"""Cells that share hosts of the test cloud, struck in each step: nothing outlives the campaign, nothing is mixed up.

Its answers lag behind what was done; where long tests are asked for, and for one test always, they also do not.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cloud.lag import Lag
from tests.cloud.lifecycle import Delays
from tests.fakes.installation import instant_definition
from tests.fakes.owners import FixedOwners
from tests.integration.reliability.cell_steps import all_steps, to_its_load
from tests.integration.reliability.struck import Place, definition_on
from tests.support.suite.requirements import IS_LONG

from plimsoll.adapters.providers import ec2 as ec2_provider
from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts import kept_hosts, kept_records
from plimsoll.services.steps.running import run_cells
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

CAMPAIGN = "kept"
CELLS = ("v1-001k-r1", "v1-002k-r1")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on a cloud whose answers lag, and on one that shows at once what was done."""
    clouds = {"behind": (Delays(), Lag.of(20.0)), "at once": (Delays(), Lag())}
    always_both = metafunc.function is test_cells_share_them_and_the_end_of_the_run_ends_them
    wanted = list(clouds) if IS_LONG or always_both else ["behind"]
    metafunc.parametrize("behind", [clouds[one] for one in wanted], ids=wanted)


@pytest.fixture
def tools(place: Place) -> Toolkit:
    """Provide a campaign of two cells on the same hosts; whoever is not `me` is dead."""
    two = instant_definition(CAMPAIGN, variants=1, loads=2, parallel=1).model_dump(mode="json")
    one = definition_on(place.cloud, 3).model_dump(mode="json")
    definition = Definition.model_validate({**two, "provider": one["provider"], "cluster_scope": "campaign"})
    CampaignStore(place.toolkit.store, CAMPAIGN).open(definition)
    return replace(place.toolkit, owners=FixedOwners(alive={"me"}))


@pytest.fixture(autouse=True)
def nothing_is_left(place: Place, tools: Toolkit) -> Iterator[None]:
    yield
    kept_hosts.end_kept(tools, CAMPAIGN)
    assert place.cloud.nothing_left(), place.cloud.leftovers()


def started(tools: Toolkit, cell_id: str) -> AttemptContext:
    work = begin(tools, CAMPAIGN, cell_id, "me")
    to_its_load(work)
    return work


def cluster_of(tools: Toolkit, work: AttemptContext) -> str:
    fingerprint = layout.FINGERPRINT.read(tools.store, work.key)
    return fingerprint.cluster if fingerprint else ""


def test_cells_share_them_and_the_end_of_the_run_ends_them(place: Place, tools: Toolkit) -> None:
    assert problems(tools, CampaignStore(tools.store, CAMPAIGN).declared()) == ()
    ran = run_cells(tools, CAMPAIGN, CELLS, "me", place.moments.hear)
    assert [one.verdict is not None and one.verdict.valid for one in ran] == [True, True], place.moments.said
    assert [cluster_of(tools, one.work) for one in ran] == ["hosts/1"] * 2
    assert place.launched() == 4
    assert place.cloud.nothing_left(), place.cloud.leftovers()


class Killed(BaseException):
    """The process is no more: nothing is cleaned up behind it."""


def kill(*_: object, **__: object) -> None:
    raise Killed


Strike = Callable[[pytest.MonkeyPatch, Place], None]
STRIKES: dict[str, Strike] = {
    "before the hosts' end is moved on": lambda patch, _: patch.setattr(ec2_provider, "prolong", kill),
    "before others' remains are removed": lambda patch, _: patch.setattr(Ec2Provider, "clear", kill),
    "in the check of the hosts": lambda patch, _: patch.setattr(actions, "examine", kill),
    "before the load starts": lambda patch, _: patch.setattr(loading, "start_all", kill),
    "while the load runs": lambda _, place: place.moments.within.update(load=kill),
    "when the nodes' files are stored": lambda _, place: place.moments.within.update(collect=kill),
    "before the hosts are given back": lambda patch, _: patch.setattr(kept_hosts, "end_assignment", kill),
}


def killed(place: Place, tools: Toolkit, strike: Strike) -> AttemptContext:
    """Return an attempt at the first cell whose process is no more."""
    dead = begin(tools, CAMPAIGN, CELLS[0], "dead")
    with pytest.MonkeyPatch.context() as patch:
        strike(patch, place)
        with pytest.raises(Killed):
            all_steps(dead, poll_s=1.0)
    return dead


def the_next_attempt_has_the_same_hosts_and_finds_nothing_there(place: Place, tools: Toolkit) -> None:
    work = started(tools, CELLS[1])
    assert (cluster_of(tools, work), place.launched()) == ("hosts/1", 4)
    assert environments_on_its_load_host(work) == [work.key.environment]


@pytest.mark.parametrize("when", STRIKES)
def test_killed_in_a_step_the_next_attempt_has_the_same_hosts_and_finds_nothing_of_it(
    place: Place, tools: Toolkit, when: str
) -> None:
    dead = killed(place, tools, STRIKES[when])
    the_next_attempt_has_the_same_hosts_and_finds_nothing_there(place, tools)
    has_all = when == "before the hosts are given back"
    assert (layout.MANIFEST.read(tools.store, dead.key) is not None) == has_all


def environments_on_its_load_host(work: AttemptContext) -> list[str]:
    cluster = work.cluster()
    return [path.name for path in Path(work.hosts(cluster, cluster.load_hosts)[0].root).parent.iterdir()]


def test_killed_while_it_destroys_them_the_next_run_does(place: Place, tools: Toolkit) -> None:
    actions.destroy(started(tools, CELLS[0]))
    place.moments.within["destroy"] = kill
    with pytest.raises(Killed):
        kept_hosts.end_kept(tools, CAMPAIGN)
    kept_hosts.end_kept(tools, CAMPAIGN)
    assert place.cloud.nothing_left(), place.cloud.leftovers()


def test_a_host_that_died_between_two_cells_is_replaced_alone_and_every_later_fingerprint_says_so(
    place: Place, tools: Toolkit
) -> None:
    first = started(tools, CELLS[0])
    actions.destroy(first)
    before = hosts_of(first)
    place.cloud.kill(place.instance("node"))
    place.cloud.skip(30)
    later = []
    for cell_id in reversed(CELLS):
        later.append(started(tools, cell_id))
        actions.destroy(later[-1])
    assert [cluster_of(tools, work) for work in (first, *later)] == ["hosts/1"] * 3
    [gone], [fresh] = before - hosts_of(later[0]), hosts_of(later[0]) - before
    reasons = [layout.FINGERPRINT.read(tools.store, work.key).replaces for work in (first, *later)]
    assert reasons == ["", *[f"{gone} died and was replaced by {fresh}"] * 2]
    assert place.launched() == 5


LONG_AGO_S = 3700
"""EC2 shows hosts that have ended for less time."""


def test_killed_with_its_hosts_reaped_the_next_attempt_gets_others_of_the_same_name(
    place: Place, tools: Toolkit
) -> None:
    killed(place, tools, STRIKES["before the hosts' end is moved on"])
    assert place.reap().troubles == ()
    place.cloud.skip(LONG_AGO_S)
    assert cluster_of(tools, started(tools, CELLS[1])) == "hosts/1"
    assert place.launched() == 8


def test_a_host_that_died_under_a_cell_is_replaced_alone_and_nothing_of_that_cell_is_left(
    place: Place, tools: Toolkit
) -> None:
    first = started(tools, CELLS[0])
    before = hosts_of(first)
    place.cloud.kill(place.instance("node"))
    place.cloud.skip(30)
    actions.destroy(first)
    second = started(tools, CELLS[1])
    [gone], [fresh] = before - hosts_of(second), hosts_of(second) - before
    assert (cluster_of(tools, second), place.launched()) == ("hosts/1", 5)
    assert layout.FINGERPRINT.read(tools.store, second.key).replaces == f"{gone} died and was replaced by {fresh}"
    assert environments_on_its_load_host(second) == [second.key.environment]


def test_a_host_that_is_no_longer_fit_is_ended_and_replaced_alone(place: Place, tools: Toolkit) -> None:
    first = started(tools, CELLS[0])
    actions.destroy(first)
    unfit, before = place.instance("load"), hosts_of(first)
    kept_records.note_unfit(tools, first.cluster_id, {unfit: "its network is slow"})
    later = []
    for cell_id in reversed(CELLS):
        later.append(started(tools, cell_id))
        actions.destroy(later[-1])
    [fresh] = hosts_of(later[0]) - before
    assert before - hosts_of(later[0]) == {unfit}
    assert hosts_of(later[1]) == hosts_of(later[0])
    reasons = {layout.FINGERPRINT.read(tools.store, work.key).replaces for work in later}
    assert reasons == {f"{unfit} was replaced by {fresh} (its network is slow)"}
    assert place.launched() == 5


def hosts_of(work: AttemptContext) -> set[str]:
    """Return the instances, as the attempt's record has them."""
    cluster = layout.CLUSTER.read(work.toolkit.store, work.key)
    assert cluster is not None
    return {host.facts["instance_id"] for host in cluster.hosts}


def test_a_host_that_dies_after_it_was_looked_for_is_not_replaced_in_secret(
    place: Place, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    actions.destroy(started(tools, CELLS[0]))
    taken = kept_hosts.take

    def then_one_dies(*arguments: Any) -> Any:
        monkeypatch.setattr(kept_hosts, "take", taken)
        found = taken(*arguments)
        place.cloud.kill(place.instance("node"))
        place.cloud.skip(30)
        return found

    monkeypatch.setattr(kept_hosts, "take", then_one_dies)
    second = started(tools, CELLS[1])
    assert cluster_of(tools, second) == "hosts/1"
    assert (
        layout.FINGERPRINT.read(tools.store, second.key)
        .replaces.partition(" and was replaced by ")[0]
        .endswith(" died")
    )
