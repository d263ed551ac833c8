"""A cell with an action while its load runs: begun in time, followed to its end, and judged around it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT, Faults, InstantLoadGenerator, InstantProduct
from tests.support.campaigns.one_cell import run_cell
from tests.support.campaigns.running import run_missing

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.action import Action, ActionEnd, ActionName, RecordedAction
from plimsoll.domain.keys.strategy import Stage
from plimsoll.domain.text.errors import ActionError
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.ports.product import ActionRequest, ActionStatus
from plimsoll.report import build_report
from plimsoll.services.campaign.open.runnable import software_problems
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.loading import poll_load
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.steps.steps import steps_of
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

CELL = "v1-001k-r1"
BEGINS = timedelta(seconds=12)


class TimedLoad(InstantLoadGenerator):
    """A load that lasts as long as its definition says, by the test's clock."""

    def __init__(self, faults: Faults, clock: SteppingClock) -> None:
        super().__init__(faults)
        self._clock, self.errors = clock, 0

    def start(self, host: Host, request: LoadRequest) -> None:
        super().start(host, request)
        self._duration = request.spec.timing.duration
        self._ends = None if request.waits else self._clock.now() + self._duration

    def begin(self, host: Host, job_id: str, start: datetime, local: datetime) -> None:
        super().begin(host, job_id, start, local)
        self.begun_at = start
        self._ends = start + self._duration

    def status(self, host: Host, job_id: str) -> LoadStatus:
        if self._ends is None:
            return super().status(host, job_id)
        left = (self._ends - self._clock.now()).total_seconds()
        if left <= 0:
            return super().status(host, job_id)
        return LoadStatus("running", "load", seconds_left=left, errors=self.errors)


class Alone(InstantLoadGenerator):
    """Has no way to begin at a time that it is told."""

    can_wait = False


@dataclass
class Acting(InstantProduct):
    """Its action ends at the last of its looks; `dead` nodes are down."""

    clock: SteppingClock
    faults: Faults
    actions: tuple[ActionName, ...] = ("kill-node", "add-node")
    looks: int = 3
    fails: str = ""
    dead: set[str] = field(default_factory=set)
    dies: str = ""
    asked: list[ActionRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.faults)

    def act(self, request: ActionRequest) -> ActionStatus:
        self.asked.append(request)
        names = [node.info.name for node in (*request.nodes, *request.spares)]
        self.dead |= set(request.action.takes_down(names[: len(request.nodes)])) | {self.dies} - {""}
        if self.fails:
            raise ActionError(self.fails, where="node4")
        if len(self.asked) < self.looks:
            return ActionStatus(note=f"look {len(self.asked)}")
        left = tuple(name for name in names if name not in self.dead)
        return ActionStatus(end=ActionEnd(at=self.clock.now(), nodes=left, evidence=("all agree",)))

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        return [f"{node.info.name} is down" for node in nodes if node.info.name in self.dead]


@dataclass
class Site:
    """A campaign whose cells have an action beside their load."""

    toolkit: Toolkit
    load: TimedLoad
    product: Acting
    campaign: CampaignStore

    def run(self) -> Verdict:
        self.said: list[str] = []
        return run_cell(self.toolkit, "campaign", CELL, "me", self.said.append)

    @property
    def work(self) -> AttemptContext:
        return AttemptContext(self.toolkit, self.campaign.key(CELL, 1))

    @property
    def recorded(self) -> RecordedAction | None:
        store, key = self.toolkit.store, self.work.key
        begin, end = layout.ACTION.read(store, key), layout.ACTION_END.read(store, key)
        return RecordedAction(begin, end) if begin and end else None


def acted(name: ActionName, *, before_load: bool = False) -> Definition:
    action = Action(name=name, before_load=True) if before_load else Action(name=name, at=BEGINS)
    return instant_definition(variants=1, loads=1).model_copy(update={"action": action})


@pytest.fixture
def site_of(tmp_path: Path, clock: SteppingClock) -> Callable[..., Site]:
    def made(name: ActionName, *, before_load: bool = False, loads: Sequence[int] = ()) -> Site:
        installation = Installation(tmp_path)
        load, product = TimedLoad(installation.faults, clock), Acting(clock, installation.faults)
        toolkit = replace(
            installation.toolkit, clock=clock, load_generators={INSTANT: load}, products={INSTANT: product}
        )
        own = acted(name, before_load=before_load)
        if loads:
            own = own.model_copy(update={"loads": loads, "action": Action(name=name)})
        return Site(toolkit, load, product, installation.open_campaign(own))

    return made


def test_an_action_begins_in_time_and_ends_by_its_evidence(site_of: Callable[..., Site]) -> None:
    site = site_of("kill-node")
    verdict = site.run()

    assert verdict.valid, verdict.reasons
    assert site.recorded is not None
    assert site.recorded.begin.hosts == ("node3",)
    assert site.recorded.end.nodes == ("node1", "node2")
    assert (site.recorded.end.at - site.recorded.begin.at) == timedelta(seconds=2)
    assert len(site.product.asked) == site.product.looks
    assert any("look 2" in line for line in site.said), "a person sees how far it is"
    assert any("kill-node took 2.0 s" in line for line in site.said)


def test_the_verdict_has_the_action_with_the_service_level_around_it(site_of: Callable[..., Site]) -> None:
    action = site_of("kill-node").run().action
    assert action is not None
    assert action.evidence == ("all agree",)
    assert action.duration_s == pytest.approx(2.0)
    (level,) = action.levels
    assert level.during.judged + level.before.judged + level.after.judged == 1


def test_a_node_that_the_action_took_down_is_no_fault_and_another_one_is(
    site_of: Callable[..., Site],
) -> None:
    site = site_of("kill-node")
    site.load.errors = 5  # so that nodes are looked at
    assert site.run().valid

    site.product.asked.clear()
    site.product.dead.clear()
    site.product.dies = "node1"
    verdict = site.run()
    assert not verdict.valid
    assert any("node1 is down" in reason for reason in verdict.reasons)


def test_nothing_begins_while_a_node_is_down(site_of: Callable[..., Site]) -> None:
    site = site_of("kill-node")
    site.product.dead.add("node2")
    verdict = site.run()
    assert not verdict.valid
    assert any("before it began: node2 is down" in reason for reason in verdict.reasons), verdict.reasons
    assert site.product.asked == []
    assert layout.ACTION.read(site.toolkit.store, site.work.key) is None


def test_a_load_begins_once_an_action_before_it_has_ended(site_of: Callable[..., Site]) -> None:
    site = site_of("kill-node", before_load=True)
    verdict = site.run()

    assert verdict.valid, verdict.reasons
    assert site.recorded is not None
    assert site.recorded.end.at < site.load.begun_at
    assert any("look 2" in line for line in site.said), "a person sees what the load waits for"
    assert verdict.action is not None
    assert verdict.action.ended_s < 0
    (level,) = verdict.action.levels
    assert (level.before.judged, level.during.judged, level.after.judged) == (0, 0, 1)


def test_an_action_without_a_load_is_valid_by_its_end_and_has_no_service_level(
    site_of: Callable[..., Site],
) -> None:
    site = site_of("kill-node", loads=(0,))
    [ran] = run_missing(site.toolkit, "campaign", "me", print)
    verdict = ran.verdict

    assert verdict is not None
    assert (verdict.outcome, verdict.reasons, verdict.levels) == ("met", (), ())
    assert verdict.cell.id == "v1-none-r1"
    assert verdict.action is not None
    assert (verdict.action.begun_s, verdict.action.duration_s, verdict.action.levels) == (0.0, 2.0, ())
    assert not hasattr(site.load, "begun_at")
    assert not ran.remains

    data = CampaignData(
        "campaign",
        site.campaign.declared(),
        (attempt_data(site.toolkit.store, verdict),),
        (),
        site.toolkit.clock.now(),
    )
    files = build_report(data)
    document = json.loads(files["report.json"])
    assert document["conclusion"] == "v1: kill-node took 2 s without a load."
    assert document["capacity"] == []
    page = files["report.html"].decode()
    assert "kill-node, without a load. It ends when" in page
    assert '<section id="answer">' not in page


def test_a_load_does_not_begin_after_an_action_that_failed(site_of: Callable[..., Site]) -> None:
    site = site_of("kill-node", before_load=True)
    site.product.fails = "node3 does not end"
    verdict = site.run()
    assert not verdict.valid
    assert any("kill-node: node4: node3 does not end" in reason for reason in verdict.reasons), verdict.reasons
    assert not hasattr(site.load, "begun_at")


def test_a_load_that_can_wait_for_nothing_is_told_by_the_plan(site_of: Callable[..., Site]) -> None:
    site = site_of("kill-node")
    toolkit = replace(site.toolkit, load_generators={INSTANT: Alone(site.product.faults)})
    (problem,) = software_problems(toolkit, acted("kill-node", before_load=True))
    assert str(problem).startswith("action.name: instant can't wait with its load for the end of an action")


def test_the_fingerprint_has_the_nodes_that_an_action_brought(site_of: Callable[..., Site]) -> None:
    site = site_of("add-node")
    verdict = site.run()
    assert verdict.valid, verdict.reasons
    fingerprint = layout.FINGERPRINT.read(site.toolkit.store, site.work.key)
    assert fingerprint is not None
    assert [node.host for node in fingerprint.nodes] == ["node1", "node2", "node3", "node4"]


def test_new_nodes_get_hosts_that_deploying_leaves_empty(site_of: Callable[..., Site]) -> None:
    site = site_of("add-node")
    assert site.run().valid
    request = site.product.asked[0]
    assert [node.info.name for node in request.nodes] == ["node1", "node2", "node3"]
    assert [node.info.name for node in request.spares] == ["node4"]
    assert site.recorded is not None
    assert site.recorded.end.nodes == ("node1", "node2", "node3", "node4")


def test_a_failed_action_makes_the_attempt_invalid_at_once(site_of: Callable[..., Site]) -> None:
    site = site_of("add-node")
    site.product.fails = "node4 was killed"
    verdict = site.run()
    assert not verdict.valid
    assert any("add-node: node4: node4 was killed" in reason for reason in verdict.reasons), verdict.reasons
    assert verdict.action is None
    assert len(site.product.asked) == 1


def test_a_load_that_ends_before_the_action_makes_the_attempt_invalid(site_of: Callable[..., Site]) -> None:
    site = site_of("add-node")
    site.product.looks = 1000
    verdict = site.run()
    assert not verdict.valid
    assert any("the load was over before add-node was (look " in reason for reason in verdict.reasons), verdict.reasons


def test_another_process_goes_on_with_an_action_and_ends_it_once(site_of: Callable[..., Site]) -> None:
    site = site_of("kill-node")
    first = begin(site.toolkit, "campaign", CELL, "me")
    for step in steps_of("measure"):
        step.run(first)
    site.toolkit.clock.sleep(BEGINS.total_seconds())
    assert poll_load(first).note == "look 1"
    begun = layout.ACTION.read(site.toolkit.store, first.key)

    second = AttemptContext(site.toolkit, first.key)
    assert poll_load(second).note == "look 2"
    assert layout.ACTION.read(site.toolkit.store, first.key) == begun
    assert poll_load(second).note == "kill-node took 0.0 s"
    ended = site.recorded

    assert poll_load(first).note == "kill-node took 0.0 s"
    assert site.recorded == ended
    assert len(site.product.asked) == site.product.looks, "an action that has ended is not asked for again"


def test_a_product_that_can_do_no_action_is_told_by_the_plan(installation: Installation) -> None:
    (problem,) = software_problems(installation.toolkit, acted("add-node"))
    assert str(problem) == "action.name: Plimsoll can't do add-node to instant (remove the action)"


def test_a_product_that_can_do_other_actions_is_told_by_the_plan(site_of: Callable[..., Site]) -> None:
    (problem,) = software_problems(site_of("add-node").toolkit, acted("compact"))
    assert str(problem).startswith("action.name: Plimsoll can't do compact to instant (it can do: kill-node, add-node")


def test_kept_hosts_are_enough_for_the_action_of_a_later_stage(site_of: Callable[..., Site]) -> None:
    toolkit = site_of("add-node").toolkit
    stages = (Stage(id="calm"), Stage(id="add", action=Action(name="add-node", at=BEGINS)))
    changes = {"stages": stages, "cluster_scope": "campaign", "max_parallel": 1}
    kept = instant_definition(variants=1, loads=1).model_copy(update=changes)
    CampaignStore(toolkit.store, "kept").open(kept)
    ran = run_missing(toolkit, "kept", "me", print)
    assert [(one.verdict.cell.stage, one.verdict.outcome) for one in ran if one.verdict] == [
        ("calm", "met"),
        ("add", "met"),
    ]
    clusters = [layout.CLUSTER.read(toolkit.store, one.verdict.key) for one in ran if one.verdict]
    assert [len(one.nodes) for one in clusters if one] == [4, 4]
    assert len({one.id for one in clusters if one}) == 1
