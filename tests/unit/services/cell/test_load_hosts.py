"""Several load hosts that put on one load together."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

import pytest
from tests.fakes.hosts import FolderHost
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT, Faults, InstantLoadGenerator, InstantProduct

from plimsoll.domain.attempt.load_summary import BrokenRule, ClockReading, LeftoverWork, LoadStart, LoadSummary
from plimsoll.domain.attempt.status import LoadPhase
from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.load_hosts import read_start, together
from plimsoll.services.judge.attempt_judging import judge
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout

Told = list[tuple[str, datetime, datetime]]
"""Hosts with the start that they were told, by the common clock and by their own."""


@pytest.fixture
def work(tmp_path: Path) -> AttemptContext:
    """Provide an attempt on three nodes and two load hosts, whose load was started and waits to be told when."""
    installation = Installation(tmp_path)
    one = instant_definition(variants=1, loads=1)
    several = one.load_generator.model_copy(update={"hosts": 2})
    installation.open_campaign(one.model_copy(update={"load_generator": several}))
    work = begin(installation.toolkit, "campaign", "v1-001k-r1", "test")
    for step in (actions.provision, actions.deploy, loading.start_load):
        step(work)
    return work


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> dict[str, ClockReading]:
    """What the clocks of hosts say, by host."""
    readings: dict[str, ClockReading] = {}
    exact = ClockReading(offset_ms=0.0)
    monkeypatch.setattr(FolderHost, "clock", lambda host: readings.get(host.info.name, exact))
    return readings


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Hosts that were told when to start, each with the start by its own clock."""
    every: Told = []
    begin_instantly = InstantLoadGenerator.begin

    def begin(generator: InstantLoadGenerator, host: Host, job_id: str, start: datetime, local: datetime) -> None:
        every.append((host.info.name, start, local))
        begin_instantly(generator, host, job_id, start, local)

    monkeypatch.setattr(InstantLoadGenerator, "begin", begin)
    return every


def test_two_load_hosts_are_told_one_start_each_by_its_own_clock(
    work: AttemptContext, clocks: dict[str, ClockReading], told: Told
) -> None:
    clocks |= {
        "load": ClockReading(offset_ms=-200.0, error_ms=2),
        "load2": ClockReading(offset_ms=1300.0, error_ms=3),
    }
    assert loading.poll_load(work).state == "running"

    start = read_start(work)
    assert start.ahead_ms == {"load": 0.0, "load2": 1500.0}
    assert start.error_ms == 5.0
    assert start.start.microsecond == 0
    assert sorted(told) == [
        ("load", start.start, start.start),
        ("load2", start.start, start.start + timedelta(milliseconds=1500)),
    ]
    assert loading.poll_load(work).state == "complete"


def test_what_both_did_is_judged_as_one_load(work: AttemptContext, clocks: dict[str, ClockReading]) -> None:
    loading.poll_load(work)
    clocks["load2"] = ClockReading(offset_ms=7.0)
    manifest = collect(work)
    verdict = judge(work)

    assert {"raw/load/summary.json", "raw/load2/summary.json"} <= {entry.path for entry in manifest.files}
    assert (verdict.valid, verdict.reasons, verdict.achieved_ops_s) == (True, (), 1000.0)
    assert read_start(work).drift_ms == 7.0
    intervals = attempt_data(work.toolkit.store, verdict).intervals
    judged = intervals[intervals["phase"] == "judged"].set_index("operation")["count"].to_dict()
    assert judged == {"all": 10_000, "reads": 2_000, "writes": 8_000}
    assert list(layout.FINGERPRINT.read(work.toolkit.store, work.key).load_hosts) == ["load", "load2"]


def test_the_checks_look_at_each_load_host_and_at_their_clocks(work: AttemptContext) -> None:
    loading.poll_load(work)
    collect(work)
    checks = {check.name for check in judge(work).checks}
    assert {"load hosts", "each host's CPU", "each host's schedule lag", "common start"} <= checks


def test_a_load_host_of_which_nothing_was_collected_makes_the_attempt_invalid(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading.poll_load(work)

    def lost(host: FolderHost, folder: PurePosixPath) -> tuple[PurePosixPath, ...]:
        if host.info.name == "load2":
            raise HostError("can't be reached: timed out", where="host load2")
        return ()

    monkeypatch.setattr(FolderHost, "files", lost)
    collect(work)
    verdict = judge(work)
    assert not verdict.valid
    assert "nothing was collected from load2" in verdict.reasons[0]


def test_clocks_that_can_not_be_compared_exactly_enough_fail_the_load(
    work: AttemptContext, clocks: dict[str, ClockReading], told: Told
) -> None:
    clocks |= {"load": ClockReading(offset_ms=0, error_ms=40), "load2": ClockReading(offset_ms=0, error_ms=61)}
    status = loading.poll_load(work)
    assert status.state == "failed"
    assert "can be compared to 101.0 ms only, their start must be known to 100 ms" in status.reason
    assert "load2 ±61.0 ms" in status.reason
    assert told == []


def test_a_start_that_somebody_put_on_record_and_told_nobody_is_told(work: AttemptContext, told: Told) -> None:
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=1)
    exact = ClockReading(offset_ms=0)
    layout.LOAD_START.write(
        work.toolkit.store, work.key, LoadStart(start=start, clocks={"load": exact, "load2": exact})
    )
    loading.poll_load(work)
    assert {at for _, at, _ in told} == {start}


def test_who_was_left_out_when_the_others_were_told_is_told_the_same(
    work: AttemptContext, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = InstantLoadGenerator.begin

    def unreachable(generator: InstantLoadGenerator, host: Host, job_id: str, start: datetime, local: datetime) -> None:
        if host.info.name == "load2":
            raise HostError("can't be reached", where="host load2")
        whole(generator, host, job_id, start, local)

    with monkeypatch.context() as lost:
        lost.setattr(InstantLoadGenerator, "begin", unreachable)
        with pytest.raises(HostError):
            loading.poll_load(work)
    loading.poll_load(work)
    assert told[0][:2] == ("load", read_start(work).start)
    assert told[-1][:2] == ("load2", read_start(work).start)


def test_a_start_that_is_past_and_that_nobody_was_told_gives_way_to_another(work: AttemptContext, told: Told) -> None:
    past = datetime.now(UTC) - timedelta(hours=1)
    exact = ClockReading(offset_ms=0)
    layout.LOAD_START.write(work.toolkit.store, work.key, LoadStart(start=past, clocks={"load": exact, "load2": exact}))
    loading.poll_load(work)
    assert read_start(work).start > datetime.now(UTC)
    assert {at for _, at, _ in told} == {read_start(work).start}


def test_a_host_that_never_starts_fails_the_load(work: AttemptContext, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = ClockReading(offset_ms=0)
    start = datetime.now(UTC) - timedelta(minutes=2)
    layout.LOAD_START.write(
        work.toolkit.store, work.key, LoadStart(start=start, clocks={"load": exact, "load2": exact})
    )
    phases: dict[str, LoadPhase] = {"load": "warm-up", "load2": "populate"}

    def status(generator: InstantLoadGenerator, host: Host, job_id: str) -> LoadStatus:
        return LoadStatus("running", phases[host.info.name], errors=0)

    monkeypatch.setattr(InstantLoadGenerator, "status", status)
    failed = loading.poll_load(work)
    assert (failed.state, "load2 did not start 60 s after the time to start" in failed.reason) == ("failed", True)


def test_stopping_ends_the_load_on_every_host(work: AttemptContext, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[str] = []

    def stop(generator: InstantLoadGenerator, host: Host, job_id: str) -> None:
        stopped.append(host.info.name)

    monkeypatch.setattr(InstantLoadGenerator, "stop", stop)
    loading.stop_load(work)
    assert sorted(stopped) == ["load", "load2"]


def test_a_load_host_that_can_not_be_reached_keeps_no_other_from_being_stopped(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[str] = []

    def stop(generator: InstantLoadGenerator, host: Host, job_id: str) -> None:
        if host.info.name == "load":
            raise HostError("can't be reached: timed out", where="host load")
        stopped.append(host.info.name)

    monkeypatch.setattr(InstantLoadGenerator, "stop", stop)
    with pytest.raises(HostError, match="can't be reached"):
        loading.stop_load(work)
    assert stopped == ["load2"]


def test_once_a_rule_has_ended_the_load_on_one_host_the_others_are_told_to_end_it(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, broken = list[tuple[str, BrokenRule]](), BrokenRule(seconds=7.0, rule=0, why="late")
    ended = LoadStatus("complete", "load", seconds_left=0.0, stopped=broken)
    statuses = {"load": RUNNING, "load2": ended}

    def end(generator: InstantLoadGenerator, host: Host, job_id: str, broken: BrokenRule) -> None:
        told.append((host.info.name, broken))

    def status(generator: InstantLoadGenerator, host: Host, job_id: str) -> LoadStatus:
        return statuses[host.info.name]

    monkeypatch.setattr(InstantLoadGenerator, "end", end)
    monkeypatch.setattr(InstantLoadGenerator, "status", status)
    seen = loading.poll_load(work)
    assert (seen.state, seen.note) == ("running", "a stop rule ends it: load2: late")
    assert told == [("load", BrokenRule(seconds=7.0, rule=0, why="late", host="load2"))]
    statuses["load"] = replace(ended, stopped=BrokenRule(seconds=9.0, rule=0, why="late", host="load2"))
    assert loading.poll_load(work).state == "complete"
    assert len(told) == 1


def test_a_host_that_was_not_told_its_start_is_told_although_a_rule_ends_the_load_on_another(
    work: AttemptContext, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for its start alone, and then ends, as that is past."""
    loading.poll_load(work)
    told.clear()
    broken = LoadStatus("running", "load", stopped=BrokenRule(seconds=7.0, rule=0, why="late"))
    statuses = {"load": broken, "load2": LoadStatus("running", is_ready=True)}

    def status(generator: InstantLoadGenerator, host: Host, job_id: str) -> LoadStatus:
        return statuses[host.info.name]

    monkeypatch.setattr(InstantLoadGenerator, "end", lambda *_: None)
    monkeypatch.setattr(InstantLoadGenerator, "status", status)
    loading.poll_load(work)
    assert [host for host, _, _ in told] == ["load2"]


def test_a_load_host_that_can_not_be_reached_keeps_no_other_from_being_ended_by_a_rule(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, broken = list[str](), BrokenRule(seconds=7.0, rule=0, why="late")
    cluster = work.cluster()
    [first, second] = work.hosts(cluster, cluster.load_hosts)
    third = copy(second)
    third.info = second.info.model_copy(update={"name": "load3"})

    def status(generator: InstantLoadGenerator, host: Host, job_id: str) -> LoadStatus:
        if host.info.name == "load3":
            raise HostError("can't be reached", where="host load3")
        return RUNNING if host.info.name == "load" else LoadStatus("running", "load", stopped=broken)

    def end(generator: InstantLoadGenerator, host: Host, job_id: str, broken: BrokenRule) -> None:
        told.append(host.info.name)

    monkeypatch.setattr(InstantLoadGenerator, "end", end)
    monkeypatch.setattr(InstantLoadGenerator, "status", status)
    monkeypatch.setattr(AttemptContext, "hosts", lambda *_: [first, second, third])
    with pytest.raises(HostError, match="can't be reached"):
        loading.poll_load(work)
    assert told == ["load"]


RUNNING = LoadStatus("running", "load", achieved_ops_s=500.0, seconds_left=30.0, errors=1)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (RUNNING, LoadStatus("running", "load", achieved_ops_s=1000.0, seconds_left=30.0, errors=2)),
        (
            LoadStatus("running", "populate", achieved_ops_s=10.0, seconds_left=90.0, errors=0),
            LoadStatus("running", "populate", achieved_ops_s=510.0, seconds_left=90.0, errors=1),
        ),
        (
            LoadStatus("complete", "load", seconds_left=0.0, errors=0),
            LoadStatus("running", "load", achieved_ops_s=500.0, seconds_left=30.0, errors=1),
        ),
        (
            LoadStatus("failed", "warm-up", reason="it was killed"),
            LoadStatus("failed", "warm-up", reason="load2: it was killed"),
        ),
    ],
)
def test_a_load_of_several_hosts_is_as_far_as_the_one_that_is_least_far(
    other: LoadStatus, expected: LoadStatus
) -> None:
    assert together({"load": RUNNING, "load2": other}) == expected


def test_a_load_is_complete_once_it_is_on_every_host() -> None:
    complete = LoadStatus("complete", "load", seconds_left=0.0)
    assert together({"load": complete, "load2": complete}).state == "complete"


def test_all_are_ready_once_each_is() -> None:
    ready = LoadStatus("running", errors=0, is_ready=True)
    assert together({"load": ready, "load2": ready}).is_ready
    assert not together({"load": ready, "load2": LoadStatus("running", errors=0)}).is_ready


class Reserved(InstantProduct):
    """Its clients can't ask it what populating left; it is done at the third look."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self.looks = 0

    def hides_leftover_work(self, spec: VariantSpec) -> bool:
        return True

    def leftover_work(self, nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        self.looks += 1
        return LeftoverWork(settled=False, left={"node1": 4, "node2": 0}) if self.looks == 3 else None


@pytest.mark.parametrize("hosts", [1, 2])
def test_a_load_waits_for_what_populating_left_where_only_the_nodes_themselves_can_tell(
    tmp_path: Path, told: Told, hosts: int
) -> None:
    installation = Installation(tmp_path)
    one = instant_definition(variants=1, loads=1)
    changes = {
        "load_generator": one.load_generator.model_copy(update={"hosts": hosts}),
        "workload": Workload(name="YcsbA", replication_factor=3),
    }
    installation.open_campaign(one.model_copy(update=changes))
    product = Reserved(Faults(tmp_path / "faults"))
    toolkit = replace(installation.toolkit, products={INSTANT: product})
    work = begin(toolkit, "campaign", "v1-001k-r1", "test")
    for step in (actions.provision, actions.deploy, loading.start_load):
        step(work)

    for _ in range(2):
        assert loading.poll_load(work).state == "running"
        assert told == []
    assert loading.poll_load(work).state == "running"
    assert len(told) == hosts
    assert read_start(work).leftover_work.left == {"node1": 4, "node2": 0}
    assert loading.poll_load(work).state == "complete"
    collect(work)
    assert "compactions of populating were left when the timed run began: node1 4" in judge(work).warnings


def test_the_published_workload_is_not_waited_for(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(instant_definition(variants=1, loads=1))
    toolkit = replace(installation.toolkit, products={INSTANT: Reserved(Faults(tmp_path / "faults"))})
    work = begin(toolkit, "campaign", "v1-001k-r1", "test")
    for step in (actions.provision, actions.deploy, loading.start_load):
        step(work)
    assert loading.poll_load(work).state == "complete"


def test_compactions_that_the_load_generator_saw_left_are_a_warning(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading.poll_load(work)
    collect(work)
    told = InstantLoadGenerator.summary

    def summary(generator: InstantLoadGenerator, files: Mapping[str, str]) -> LoadSummary:
        return told(generator, files).model_copy(update={"compactions_left": 12})

    monkeypatch.setattr(InstantLoadGenerator, "summary", summary)
    assert "compactions of populating were left when the timed run began: 12" in judge(work).warnings


@pytest.mark.parametrize(("others", "told_as"), [(0, "warnings"), (10_000, "reasons")])
def test_what_the_database_said_is_told_with_the_load_host_and_as_a_reason_where_it_spoils_the_measurement(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch, others: int, told_as: str
) -> None:
    loading.poll_load(work)
    collect(work)
    told, remark = (
        InstantLoadGenerator.summary,
        "reads failed as `other` 3 times, first: SyntaxError: SELEC",
    )

    def summary(generator: InstantLoadGenerator, files: Mapping[str, str]) -> LoadSummary:
        return told(generator, files).model_copy(update={"failures": (remark,), "errors": {"other": others}})

    monkeypatch.setattr(InstantLoadGenerator, "summary", summary)
    verdict = judge(work)
    assert verdict.valid is (not others)
    assert {f"{host}: {remark}" for host in ("load", "load2")} <= set(getattr(verdict, told_as))
