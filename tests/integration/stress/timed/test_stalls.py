"""A database that stalls: the schedule goes on, and nothing is missing."""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.integration.stress.node import Node
from tests.integration.stress.program import SOON_S, Files, Load, Program, running_loads
from tests.support.processes import until
from tests.support.suite.tries import tries

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
from plimsoll.analysis.attempt.unanswered import begins_with_backlog, opening_backlog
from plimsoll.domain.keys.service_level import ServiceLevel

STALL_S = 2.5
RATE = 300
CAP = 8
FEW = ("-t", "2", "-c", "4", "-r", "0.2", "--rate", str(RATE))


LONG_STALL_S = 9
STALLED = {
    "capped": (*FEW, "-d", "9s"),
    "one-at-a-time": ("-t", "1", "-c", "1", "--rate", "40", "-d", "9s"),
    "impatient": (*FEW, "-d", "9s", "--request-timeout", "1s"),
}
"""Loads during which the node stalls for `STALL_S`. They run together, since each one alone hardly uses it."""
LONG_STALLED = {
    "few-late": (*FEW, "-d", "9s", "--backlog-limit", "1s"),
    "guarded": (*FEW, "-d", "9s", "--stop-when", "99/60s/10ms,errors/3s/5%"),
    "gives-up": (*FEW, "-d", "6s", "--drain", "1s", "--give-up", "0s"),
}
"""As `STALLED`, for `LONG_STALL_S`."""


def accounted(run: dict[str, Any]) -> Any:
    return run["completed"] + sum(run["errors"].values())


@pytest.fixture(scope="module")
def all_stalled(program: Program, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Load]:
    """Provide the loads of `STALLED`, ended."""
    return stall(program, node, tmp_path_factory.mktemp("stalled"), STALLED, STALL_S)


@pytest.fixture(scope="module")
def all_stalled_for_long(program: Program, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Load]:
    """Provide the loads of `LONG_STALLED`, ended."""
    return stall(program, node, tmp_path_factory.mktemp("stalled_for_long"), LONG_STALLED, LONG_STALL_S)


@pytest.fixture(scope="module")
def stalled(all_stalled: Mapping[str, Load]) -> Files:
    """Provide the files of a load during which the node stalled."""
    return all_stalled["capped"].files


def stall(
    program: Program, node: Node, folder: Path, options: Mapping[str, Sequence[str]], seconds: float
) -> Mapping[str, Load]:
    """Run loads during which the node stalls, and nothing else does, to their ends."""
    for number in tries():
        (folder / str(number)).mkdir()
        with running_loads(program, folder / str(number), node.address, options) as loads:
            begun = max(len(load.files.progress) for load in loads.values())
            with node.stopped():
                began = time.monotonic()
                time.sleep(seconds)
                took = time.monotonic() - began
            for load in loads.values():
                assert load.wait() == 0, load.said()
        hiccup_ms = max(line["hiccup_max_ms"] for load in loads.values() for line in load.files.progress)
        if begun <= 3 and took < seconds + 0.5 and hiccup_ms < 1_000:
            break
    return loads


def test_a_stall_shows_as_response_times_of_all_operations_that_were_due(stalled: Files) -> None:
    late = stalled.slower("-intended-", 500_000)
    assert late >= 0.8 * RATE * (STALL_S - 0.5)
    assert stalled.slower("-intended-", 2_000_000) >= 0.8 * RATE * (STALL_S - 2.0)
    # Stock tools would show these few only: what was under way when it began.
    assert stalled.slower("-", 2_000_000) <= CAP
    assert 5 * stalled.slower("-", 500_000) < late


def test_no_operation_is_missing_after_a_stall(stalled: Files) -> None:
    run = stalled.summary["run"]
    assert run["scheduled"] == accounted(run) == RATE * 9
    assert stalled.completed().total() == run["completed"]


def test_in_a_stall_the_cap_holds_and_the_backlog_grows(stalled: Files) -> None:
    # A line that is told as the stall ends may find the highest backlog and nothing under way.
    assert max(line["backlog"] for line in stalled.progress if line["in_flight"] == CAP) >= RATE
    assert max(line["in_flight_max"] for line in stalled.progress) == CAP
    assert stalled.summary["run"]["measured"]["generator"]["in_flight_max"] == CAP
    assert stalled.summary["run"]["measured"]["generator"]["backlog_max"] == max(
        line["backlog"] for line in stalled.progress
    )


def test_seconds_without_an_answer_have_empty_records(stalled: Files) -> None:
    records = stalled.log("-intended-mutations")
    assert 0 in [record.histogram.total_count for record in records]
    assert [record.start_s for record in records][:9] == list(range(9))


def test_what_waits_when_the_judged_time_begins_is_told_and_flagged(
    node: Node, start_load: Callable[..., Any], artefacts: Artefacts
) -> None:
    warmup, level = timedelta(seconds=4), ServiceLevel()
    load = start_load(node, *FEW, "-d", "9s", "--response-time-warmup", "4s")
    with node.stopped():
        until(lambda: _measures(load), "the end of warm-up", longest_s=SOON_S)
    assert load.wait() == 0, load.said()
    generator, folder = PlimsollStress(artefacts), load.files.folder
    summary = generator.summary({"summary.json": (folder / "summary.json").read_text()})
    assert summary.started_at is not None
    opening = opening_backlog(
        generator.seconds((folder / "progress").read_text()), summary.started_at + warmup, RATE, warmup
    )
    assert opening.unsent > 0
    assert begins_with_backlog(opening, level)
    assert summary.achieved_ops_s > RATE, "warm-up's backlog is answered in judged time"


def _measures(load: Load) -> bool:
    return any(line["phase"] == "measure" for line in load.files.progress)


def test_waiting_for_the_database_is_not_counted_as_the_generators_lag(all_stalled: Mapping[str, Load]) -> None:
    load = all_stalled["one-at-a-time"]
    run = load.files.summary["run"]
    assert load.files.slower("-intended-", 1_000_000) >= 0.8 * 40 * (STALL_S - 1)
    assert run["measured"]["generator"]["schedule_lag_ms"]["max"] < 1000 * (STALL_S - 0.5)


def test_operations_without_an_answer_are_client_timeouts_with_times_of_their_own(
    all_stalled: Mapping[str, Load],
) -> None:
    load = all_stalled["impatient"]
    files, run = load.files, load.files.summary["run"]
    assert run["errors"]["client_timeout"] >= CAP
    assert accounted(run) == run["scheduled"]
    assert files.completed().total() == run["completed"]
    records = files.log(".errors")
    assert {record.tag for record in records} == {kind for kind, count in run["errors"].items() if count}
    timeouts = [record.histogram for record in records if record.tag == "client_timeout"]
    assert sum(histogram.total_count for histogram in timeouts) == run["errors"]["client_timeout"]
    assert min(histogram.get_min_value() for histogram in timeouts) >= 900_000
    assert files.progress[-1]["errors"]["client_timeout"] == run["errors"]["client_timeout"]


def test_what_would_start_too_late_overflows_and_the_console_says_so(all_stalled_for_long: Mapping[str, Load]) -> None:
    load = all_stalled_for_long["few-late"]
    run = load.files.summary["run"]
    assert run["errors"]["overflow"] >= 0.5 * RATE * (LONG_STALL_S - 1)
    assert accounted(run) == run["scheduled"]
    assert "overflow: " in load.said()
    assert "more than 1 s late" in load.said()
    assert max(line["backlog"] for line in load.files.progress) < 0.75 * RATE * 4


def test_what_has_no_answer_after_the_drain_is_unfinished(all_stalled_for_long: Mapping[str, Load]) -> None:
    run = all_stalled_for_long["gives-up"].files.summary["run"]
    assert run["errors"]["unfinished"] >= RATE
    assert accounted(run) == run["scheduled"]
    assert run["drain_s"] <= 1


def test_a_load_ends_when_nothing_was_answered_for_as_long_as_a_rule_says(
    all_stalled_for_long: Mapping[str, Load],
) -> None:
    run = all_stalled_for_long["guarded"].files.summary["run"]
    assert (run["stopped"]["rule"], run["stopped"]["why"]) == (1, "no operation was answered for 3 s")
    assert run["stopped"]["silent"]
    assert 3 <= run["stopped"]["seconds"] < 9
    assert run["errors"]["unfinished"] == 0


def test_a_stalled_generator_says_that_it_was_the_one(node: Node, start_load: Callable[..., Any]) -> None:
    load = start_load(node, "-t", "2", "-c", "500", "--rate", str(RATE), "-d", "8s")
    load.process.send_signal(signal.SIGSTOP)
    time.sleep(STALL_S)
    load.process.send_signal(signal.SIGCONT)
    assert load.wait() == 0, load.said()
    files, run = load.files, load.files.summary["run"]
    assert accounted(run) == run["scheduled"]
    generator = run["measured"]["generator"]
    assert generator["hiccup_max_ms"] >= 800 * STALL_S
    assert generator["schedule_lag_ms"]["max"] >= 800 * STALL_S
    assert files.slower("-intended-", 1_000_000) >= 0.8 * RATE * (STALL_S - 1)
    assert [record.start_s for record in files.log("-mutations")][:8] == list(range(8))
