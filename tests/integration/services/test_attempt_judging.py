"""What becomes of an attempt whose evidence has a flaw, on instant adapters and real Great Expectations."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import NoSampler
from tests.fakes.instant.load_generator import InstantLoadGenerator

from plimsoll.adapters.hosts.sampler.sample import COLUMNS
from plimsoll.analysis.campaign.cell_results import missed_by
from plimsoll.domain.attempt.load_summary import BrokenRule, LoadSummary
from plimsoll.domain.attempt.result import OpeningBacklog
from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.domain.keys.timing import StopRule
from plimsoll.domain.text.errors import NotFound
from plimsoll.ports.host import Host
from plimsoll.services.campaign.show.progress import campaign_progress
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.judge.attempt_judging import judge
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.steps.running import run_cells
from plimsoll.services.store import layout

CELL = "v1-001k-r1"


@pytest.fixture
def installation(tmp_path: Path) -> Any:
    return Installation(tmp_path)


@pytest.fixture
def work(installation: Installation) -> Any:
    """Provide an attempt whose load is complete and of which nothing is collected yet."""
    installation.open_campaign(installation.define(instant_definition(variants=1, loads=1)))
    work = begin(installation.toolkit, "campaign", CELL, "test")
    for phase in (actions.provision, actions.deploy, loading.start_load):
        phase(work)
    loading.require_complete(work, loading.poll_load(work))
    return work


def state_of_the_cell(work: Any) -> Any:
    [cell] = campaign_progress(work.toolkit.store, "campaign", now=work.toolkit.clock.now()).cells
    return cell


def test_an_attempt_without_a_flaw_is_valid(work: Any) -> None:
    collect(work)
    assert judge(work).reasons == ()
    assert state_of_the_cell(work).state == "met"


def test_a_node_that_no_longer_ran_at_the_end_makes_the_attempt_invalid(work: Any, installation: Installation) -> None:
    installation.faults.plant(CELL, "down")
    collect(work)
    [reason] = judge(work).reasons
    assert "all nodes up all the time" in reason
    assert "node1 was told to be down; node2 was told to be down; node3 was told to be down" in reason


def test_records_that_a_log_lost_are_noticed(work: Any) -> None:
    cluster = work.cluster()
    host = work.provider.host(cluster, cluster.load_host)
    [path] = [path for path in host.files(host.root) if path.name.endswith("hdr-intended-selects")]
    lines = host.read_tail(path, max_bytes=1_000_000).splitlines(keepends=True)
    host.write(path, "".join(lines[:-1]))
    collect(work)
    assert any("the load generator answered for 20000" in reason for reason in judge(work).reasons)


def test_a_judgement_that_can_not_be_made_shows_as_failed_with_its_reason(work: Any) -> None:
    collect(work)
    work.toolkit.store.delete(layout.FINGERPRINT.key(work.key))
    with pytest.raises(NotFound):
        judge(work)
    found = state_of_the_cell(work)
    assert found.state == "failed"
    assert "there is no fingerprint of this attempt" in found.reason


def test_a_backlog_of_warm_ups_is_kept_and_warned_of_and_the_attempt_stays_valid(
    work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = work.cluster()
    host = work.provider.host(cluster, cluster.load_host)
    summary = work.load_generator.summary(
        {"summary.json": host.read_tail(PurePosixPath("summary.json"), max_bytes=100_000)}
    )
    lines = [
        GeneratorSecond(summary.started_at + timedelta(seconds=end_s), 0.0, 0.0, 0.1, 90, 700, 0.2)
        for end_s in range(1, int(summary.duration_s) + 1)
    ]
    monkeypatch.setattr(InstantLoadGenerator, "seconds", lambda _self, _text: lines)
    collect(work)
    verdict = judge(work)
    assert verdict.valid
    assert verdict.opening_backlog == OpeningBacklog(in_flight=90, unsent=700, seconds=0.79)
    assert [warning.partition(":")[0] for warning in verdict.warnings if "backlog" in warning] == ["warm-up's backlog"]
    kept = attempt_data(work.toolkit.store, verdict).backlog
    assert set(kept["behind_s"]) == {0.7}
    assert kept["start_s"].is_monotonic_increasing


def stopped(installation: Installation, monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    """Have loads end by a rule that was broken so many seconds after their start."""
    usual = InstantLoadGenerator.summary
    broken = BrokenRule(seconds=seconds, rule=0, why="900 of 9,000 operations of 5 s failed, more than 5 %")

    def summary(self: Any, files: Any) -> LoadSummary:
        return usual(self, files).model_copy(update={"stopped": broken})

    monkeypatch.setattr(InstantLoadGenerator, "summary", summary)
    monkeypatch.setattr(InstantLoadGenerator, "unkept_because", "")
    rule = StopRule.model_validate({"errors": "5%", "within": "5s"})
    definition = instant_definition(variants=1, loads=1)
    installation.open_campaign(definition.model_copy(update={"stop_when": (rule,)}))


@pytest.mark.parametrize("seconds", [20, 17])
def test_a_load_that_a_stop_rule_ended_is_missed_though_its_intervals_were_met(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    """Ended in its judged time, and before one interval of that was over, when it is judged from its start."""
    stopped(installation, monkeypatch, seconds)
    verdict = run_cells(installation.toolkit, "campaign", [CELL], "test", print)[-1].verdict
    assert verdict is not None
    assert (verdict.outcome, verdict.levels[0].met, verdict.levels[0].judged) == ("missed", True, 1)
    assert verdict.stopped.startswith(f"the load was ended after {seconds}s by `stop_when[0]`: 900 of 9,000 operations")
    assert verdict.stopped in verdict.warnings
    assert missed_by(verdict) == "stop rule"
    assert state_of_the_cell(installation).state == "missed"


def test_a_load_that_a_stop_rule_ended_beside_another_program_is_disturbed(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(installation, monkeypatch, 20)
    tools = replace(installation.toolkit, sampler=Samples("0.76"))
    verdict = run_cells(tools, "campaign", [CELL], "test", print)[-1].verdict
    assert verdict is not None
    assert (verdict.outcome, verdict.is_disturbed) == ("invalid", True)


def test_a_load_that_a_stop_rule_ended_before_a_whole_interval_decides_nothing(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(installation, monkeypatch, 9)
    monkeypatch.setattr("tests.fakes.instant.load_generator._seconds", lambda _request: 9)
    verdict = run_cells(installation.toolkit, "campaign", [CELL], "test", print)[-1].verdict
    assert verdict is not None
    assert verdict.outcome == "invalid"
    assert verdict.reasons[0] == "only 0 of 1 interval of 10s are covered by the logs"
    assert any("was ended after 9s" in warning for warning in verdict.warnings)


class Samples(NoSampler):
    """The load host's samples of the run, with that noise in every second: the last columns."""

    def __init__(self, noise: str) -> None:
        self._noise = noise

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """Write them when they are asked for, some milliseconds after each second."""
        if host.info.role != "load":
            return ()
        summary = json.loads(host.read_tail(PurePosixPath("summary.json"), max_bytes=100_000))
        start_s = datetime.fromisoformat(summary["started_at"]).timestamp()
        figures = "0.1,0.1,0,0,0,,8000000000,0,0,0,0,0"
        rows = [
            f"{start_s + second + 0.004:.3f},{figures},{self._noise}"
            for second in range(1, int(summary["duration_s"]) + 1)
        ]
        path = host.root / "host.csv"
        host.write(path, "\n".join([",".join(COLUMNS), *rows]) + "\n")
        return [path]


@pytest.mark.parametrize(
    ("share", "fault", "outcome"), [(0.76, "slow", "invalid"), (0.03, "slow", "missed"), (0.76, "", "met")]
)
def test_a_miss_beside_another_program_is_disturbed_and_alone_it_counts(
    installation: Installation, share: float, fault: str, outcome: str
) -> None:
    """A busy machine once made a valid miss of it, and a search dropped five cells."""
    tools = replace(installation.toolkit, sampler=Samples(f"{share},,yes(77)={share}"))
    installation.open_campaign(installation.define(instant_definition(variants=1, loads=1)))
    if fault:
        installation.faults.plant(CELL, fault)

    verdict = run_cells(tools, "campaign", [CELL], "test", print)[-1].verdict

    assert verdict is not None
    assert verdict.outcome == outcome
    assert verdict.is_disturbed is (outcome == "invalid")
    assert verdict.key.attempt == (2 if outcome == "invalid" else 1)
    if outcome == "invalid":
        assert verdict.reasons[0].startswith(
            "disturbed: expected no interval missed, or a missed interval without noise"
        )
        assert "other programs took 76.0% of the processors of load" in verdict.reasons[0]
        assert "allowed: 10%; most by yes(77) 76.0%" in verdict.reasons[0]


@pytest.mark.parametrize(("throttled", "outcome"), [("100%", "missed"), ("5%", "invalid")])
def test_a_miss_of_processes_that_a_quota_held_back_is_disturbed_unless_the_quota_is_meant(
    installation: Installation, throttled: str, outcome: str
) -> None:
    tools = replace(installation.toolkit, sampler=Samples("0.0,0.9933,,1786,/limited"))
    bounds = Disturbance.model_validate({"throttled": throttled, "tries": 1})
    definition = instant_definition(variants=1, loads=1).model_copy(update={"disturbance": bounds})
    installation.open_campaign(installation.define(definition))
    installation.faults.plant(CELL, "slow")

    verdict = run_cells(tools, "campaign", [CELL], "test", print)[-1].verdict

    assert verdict is not None
    assert verdict.outcome == outcome
    if outcome == "invalid":
        assert "a CPU quota on load was used up in 99.3% of all periods" in verdict.reasons[0]
        assert "processes of control group /limited waited for " in verdict.reasons[0]
