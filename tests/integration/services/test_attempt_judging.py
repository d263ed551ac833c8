"""What becomes of an attempt whose evidence has a flaw, on instant adapters and real Great Expectations."""

from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant.load_generator import InstantLoadGenerator

from plimsoll.domain.errors import NotFound
from plimsoll.domain.happening import GeneratorSecond
from plimsoll.domain.result import OpeningBacklog
from plimsoll.services.campaign.progress import campaign_progress
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.judge.attempt_judging import judge
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout

CELL = "v1-001k-r1"


@pytest.fixture
def installation(tmp_path: Path) -> Any:
    return Installation(tmp_path)


@pytest.fixture
def work(installation: Installation) -> Any:
    """An attempt whose load is complete, nothing collected yet."""
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
    work.toolkit.store.delete(layout.attempt_file(work.key, layout.FINGERPRINT))
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
    told = [
        GeneratorSecond(summary.started_at + timedelta(seconds=end_s), 0.0, 0.0, 0.1, 90, 700, 0.2)
        for end_s in range(1, int(summary.duration_s) + 1)
    ]
    monkeypatch.setattr(InstantLoadGenerator, "seconds", lambda _self, _text: told)
    collect(work)
    verdict = judge(work)
    assert verdict.valid
    assert verdict.opening_backlog == OpeningBacklog(in_flight=90, unsent=700, seconds=0.79)
    assert [warning.partition(":")[0] for warning in verdict.warnings if "backlog" in warning] == ["warm-up's backlog"]
    kept = attempt_data(work.toolkit.store, verdict).backlog
    assert set(kept["behind_s"]) == {0.7}
    assert kept["start_s"].is_monotonic_increasing
