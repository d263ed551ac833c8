"""NoSQLBench's form, by its sources (HistoIntervalLogger) and a log of a real run; the histograms are made here."""

import pytest
from tests.support.campaigns.interval_logs import line, log, payload

from plimsoll.analysis.logs.formats import ReadOptions, RunFile, read_run

HEAD = b"#logging histograms for session scenario_20220510_144137_250\n"


def run(*tags: str, first_s: float = 8.137) -> RunFile:
    """Return a tick every 20 s; the first one comes sooner, and the activity began long after the session."""
    lengths = [first_s, 20.0, 20.0, 19.999]
    lines, start = [], 151.867
    for length in lengths:
        lines += [
            line(start, length, payload([1_000_000] * 4, highest=2 + 2_000_000), tag, per_ms=10**6) for tag in tags
        ]
        start += length
    return RunFile("nb.log", HEAD + log(lines, base_time=False))


def test_successes_are_judged_where_they_are_told_apart() -> None:
    found = read_run([run("kv_main.result", "kv_main.result-success", "kv_main.tries", "kv_main.bind")], ReadOptions())
    assert found.title == "NoSQLBench histogram log"
    assert [track.name for track in found.tracks] == ["nb.log (kv_main.result-success)"]
    assert found.unit.unit == "ns"
    assert not any("errors are counted" in note for note in found.notes)


def test_a_result_without_its_successes_counts_errors_as_latencies_and_that_is_said() -> None:
    found = read_run([run("kv_main.result")], ReadOptions())
    assert "nb.log: kv_main.result counts failed operations too: errors are counted as latencies" in found.notes
    assert any("coordinated omission" in note for note in found.notes)


def test_response_times_of_a_rate_limited_activity_come_first() -> None:
    found = read_run(
        [run("kv_main.result", "kv_main.cycles.responsetime", "kv_main.cycles.servicetime")], ReadOptions()
    )
    assert [track.name for track in found.tracks] == ["nb.log (kv_main.cycles.responsetime)"]
    assert not any("coordinated omission" in note for note in found.notes)


def test_activities_can_be_declared_reads_and_writes() -> None:
    found = read_run([run("in.result", "out.result")], ReadOptions(kinds={"in": "writes", "out": "reads"}))
    assert [track.operation for track in found.tracks] == ["writes", "reads"]


@pytest.mark.parametrize(("first_s", "records"), [(8.137, 3), (20.0, 4)])
def test_a_first_stub_is_left_out_and_named(first_s: float, records: int) -> None:
    found = read_run([run("kv.result", first_s=first_s)], ReadOptions())
    assert len(found.tracks[0].records) == records
    assert any("the first record covers 8.137 s only" in note for note in found.notes) == (records == 3)
