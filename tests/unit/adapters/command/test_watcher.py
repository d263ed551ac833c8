"""What a program prints as it runs is held against the rules that end its load."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.generators.command.watcher import Report, Watch, broken, figures_of, report, silent
from plimsoll.adapters.generators.command.watching import slow_lines, unkept
from plimsoll.domain.attempt.load_summary import BrokenRule
from plimsoll.domain.keys.timing import StopRule

PGBENCH = re.compile(r"progress: [0-9.]+ s, (?P<rate>[0-9.]+) tps, .*?(?P<errors>\d+) failed")
SYSBENCH = re.compile(r"tps: (?P<rate>[0-9.]+) .*lat \(ms,99%\): (?P<p99_ms>[0-9.]+) err/s: (?P<errors_s>[0-9.]+)")
ERRORS: dict[str, Any] = {"share": 5.0, "percentile": None, "above_ms": None, "within_s": 10.0}
SLOW: dict[str, Any] = {"share": 1.0, "percentile": 99.0, "above_ms": 100.0, "within_s": 10.0}


def read(line: str, pattern: re.Pattern[str], at_s: float, seconds: float) -> Report:
    return report(figures_of(line, pattern), at_s, seconds)


def test_lines_of_pgbench_and_sysbench_are_read() -> None:
    found = read(
        "progress: 2.0 s, 1,990.5 tps, lat 1.2 ms stddev 0.5, 7 failed",
        re.compile(PGBENCH.pattern.replace("(?P<rate>[0-9.]+)", "(?P<rate>[0-9.,]+)")),
        2.0,
        1.0,
    )
    assert found == Report(2.0, 1.0, 1990.5, 7.0, {})
    line = "[ 4s ] thds: 4 tps: 99.90 qps: 1998.0 (r/w/o: 1/2/3) lat (ms,99%): 12.30 err/s: 0.50 reconn/s: 0.00"
    assert read(line, SYSBENCH, 4.0, 2.0) == Report(4.0, 2.0, 99.9, 1.0, {99.0: 12.3})
    assert figures_of("Running the test", SYSBENCH) == {}


@pytest.mark.parametrize("rate", ["-", "nan", "inf", "..."])
def test_a_rate_that_is_no_number_is_none_and_another_such_figure_is_not_known(rate: str) -> None:
    """Programs print a dash where nothing was answered."""
    pattern = re.compile(r"tps: (?P<rate>\S+) p99: (?P<p99_ms>\S+) err/s: (?P<errors_s>\d+)")
    assert read(f"tps: {rate} p99: - err/s: 5", pattern, 2.0, 2.0) == Report(2.0, 2.0, 0.0, 10.0, {})


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("90 failed\ntps: 10 p99: 3\n", "90 % of the operations of 1 s failed"),
        ("4 failed\n5 failed\ntps: 81 p99: 3\n", "10 % of the operations of 1 s failed"),
        ("tps: 10 p99: 3\n90 failed\n", ""),
        ("0 failed\ntps: 10 p99: 3\n", ""),
    ],
)
def test_what_an_alternative_of_the_pattern_tells_belongs_to_the_next_rate(
    tmp_path: Path, printed: str, why: str
) -> None:
    pattern = r"tps: (?P<rate>\d+) p99: (?P<p99_ms>\S+)|(?P<errors>\d+) failed"
    settings = {"rules": [{**ERRORS, "within_s": 1.0}], "pattern": pattern, "console": "console"}
    watch = Watch({**settings, "lease": None, "lease_s": 60, "end": None, "duration_s": 100}, tmp_path)
    (tmp_path / "console").write_text(printed)
    found = watch.look(1.0)
    assert (found[1] if found else "") == why


def test_the_rule_that_another_host_s_share_broke_ends_this_one_too(tmp_path: Path) -> None:
    settings = {"rules": [ERRORS], "pattern": r"tps: (?P<rate>\d+)", "console": "console"}
    watch = Watch({**settings, "lease": None, "lease_s": 60, "end": "end.json", "duration_s": 100}, tmp_path)
    (tmp_path / "console").write_text("tps: 10\n")
    assert (watch.look(1.0), watch.elsewhere()) == (None, None)
    told = BrokenRule(seconds=12.5, rule=1, why="nothing was answered for 10 s", host="load2")
    (tmp_path / "end.json").write_text(told.model_dump_json())
    assert (watch.look(2.0), watch.elsewhere()) == (None, told.model_dump())


@pytest.mark.parametrize(
    ("group", "told", "percentile", "ms"),
    [("p99_ms", "12", 99.0, 12.0), ("p99_9_us", "1500", 99.9, 1.5), ("p50_s", "0.2", 50.0, 200.0)],
)
def test_a_percentile_has_its_unit_in_its_name(group: str, told: str, percentile: float, ms: float) -> None:
    found = read(f"1 {told}", re.compile(rf"(?P<rate>\d) (?P<{group}>[\d.]+)"), 1.0, 1.0)
    assert found.times_ms == pytest.approx({percentile: ms})


def lines(*figures: tuple[float, float | None, float], seconds: float = 1.0) -> list[Report]:
    """Return lines of a second each, by default: answered ops/s, failed, p99 in ms."""
    return [
        Report(number * seconds, seconds, rate, failed, {99.0: p99_ms})
        for number, (rate, failed, p99_ms) in enumerate(figures, 1)
    ]


FINE, FAILING, SLOWED, STILL = (100.0, 0.0, 5.0), (90.0, 10.0, 5.0), (100.0, 0.0, 150.0), (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("rule", "told", "why"),
    [
        (ERRORS, [FINE] * 20, ""),
        (ERRORS, [FAILING] * 9, ""),
        (ERRORS, [(95.0, 5.0, 5.0)] * 10, ""),
        (ERRORS, [FAILING] * 10, "10 % of the operations of 10 s failed"),
        (ERRORS, [FAILING] * 10 + [FINE] * 6, ""),
        (ERRORS, [STILL] * 10, "nothing was answered for 10 s"),
        (ERRORS, [(100.0, None, 5.0)] * 10, ""),
        (SLOW, [SLOWED] * 10, "p99 was 150 ms or more for 10 s"),
        (SLOW, [SLOWED] * 9 + [FINE], ""),
        (SLOW, [SLOWED] * 9 + [STILL], "p99 was 150 ms or more for 10 s"),
        (SLOW, [STILL] * 10, "nothing was answered for 10 s"),
    ],
)
def test_the_newest_lines_of_so_long_decide(rule: dict[str, Any], told: list[Any], why: str) -> None:
    assert broken(rule, lines(*told)) == why


def test_one_line_may_be_about_more_than_the_rule_asks_for() -> None:
    assert broken(SLOW, lines(FINE, SLOWED, seconds=30.0)) == "p99 was 150 ms or more for 30 s"
    assert broken(SLOW, lines(SLOWED, FINE, seconds=30.0)) == ""


def test_lines_that_come_too_seldom_for_a_rule_are_told(tmp_path: Path) -> None:
    settings = {"rules": [ERRORS, {**ERRORS, "within_s": 60.0}], "pattern": r"tps: (?P<rate>\d+)", "console": "console"}
    watch = Watch({**settings, "lease": None, "lease_s": 60, "end": None, "duration_s": 100}, tmp_path)
    for elapsed_s in (5.0, 6.0, 36.0):
        with (tmp_path / "console").open("a") as console:
            console.write("tps: 10\n")
        assert watch.look(elapsed_s) is None
    figures = (tmp_path / "watch.json").read_text()
    [told] = slow_lines(figures, json.dumps(settings))
    assert told.startswith("`stop_when[0]` was kept late: its time is 10 s, and lines came up to 30 s apart")
    assert list(slow_lines("", "")) == []


@pytest.mark.parametrize(("rates", "is_silent"), [("0000", True), ("0100", False)])
def test_whether_anything_was_answered_in_a_rule_s_time_is_told(tmp_path: Path, rates: str, is_silent: bool) -> None:
    rules = [{**ERRORS, "within_s": 3.0}]
    settings = {"rules": rules, "pattern": r"tps: (?P<rate>\d+), (?P<errors>\d+) failed", "console": "console"}
    watch = Watch({**settings, "lease": None, "lease_s": 60, "end": None, "duration_s": 100}, tmp_path)
    for elapsed_s, rate in enumerate(rates, start=1):
        with (tmp_path / "console").open("a") as console:
            console.write(f"tps: {rate}, 9 failed\n")
        watch.look(float(elapsed_s))
    assert watch.is_silent(0) is is_silent


@pytest.mark.parametrize(("rates", "broken_at_s"), [((0, 100, 100, 100), None), ((0, 0, 0, 0), 7.0)])
def test_a_first_line_of_nothing_tells_of_the_end_of_connecting(
    tmp_path: Path, rates: tuple[int, ...], broken_at_s: float | None
) -> None:
    """As pgbench's may, which prints none before all of its clients have logged in."""
    settings = {"rules": [{**ERRORS, "within_s": 3.0}], "pattern": r"tps: (?P<rate>\d+)", "console": "console"}
    watch = Watch({**settings, "lease": None, "lease_s": 60, "end": None, "duration_s": 100}, tmp_path)
    for elapsed_s, rate in enumerate(rates, start=4):
        with (tmp_path / "console").open("a") as console:
            console.write(f"tps: {rate}\n")
        found = watch.look(float(elapsed_s))
        assert (found is not None) == (elapsed_s == broken_at_s)


def test_a_program_that_falls_silent_breaks_the_rule_with_the_shortest_time() -> None:
    rules = [{**ERRORS, "within_s": 30.0}, SLOW]
    told = lines(FINE, FINE, seconds=5.0)
    assert silent(rules, told, 24.0) is None
    assert silent(rules, told, 26.0) == (1, "the program has printed nothing that tells of operations for 16 s")
    assert silent(rules, [], 69.0) is None, "it may take a minute to connect"
    assert silent(rules, [], 71.0) is not None
    assert silent([], [], 1000.0) is None


@pytest.mark.parametrize(
    ("rule", "progress", "lacks"),
    [
        ({"errors": "5%", "within": "10s"}, PGBENCH.pattern, ""),
        ({"errors": "5%", "within": "10s"}, SYSBENCH.pattern, ""),
        ({"errors": "5%", "within": "10s"}, "tps: (?P<rate>[0-9.]+)", "has no group `errors` or `errors_s`"),
        ({"errors": "5%", "within": "10s"}, "tps: [0-9.]+", "has no group `errors` or `errors_s`"),
        ({"percentile": 99, "above": "1s", "within": "10s"}, SYSBENCH.pattern, ""),
        ({"percentile": 99.9, "above": "1s", "within": "10s"}, SYSBENCH.pattern, "`p99_9_ms`, `p99_9_us` or `p99_9_s`"),
    ],
)
def test_a_rule_that_the_lines_do_not_tell_is_refused(rule: dict[str, Any], progress: str, lacks: str) -> None:
    found = unkept(StopRule.model_validate(rule), progress)
    assert lacks in found
    assert bool(found) == bool(lacks)
