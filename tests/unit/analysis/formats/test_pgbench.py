"""pgbench's logs of transactions, by its sources (doLog) and by what PostgreSQL 15 wrote."""

import tracemalloc
from datetime import UTC, datetime

import numpy as np
import pytest

from plimsoll.analysis.logs.formats import ReadOptions, RunFile, pgbench_lines, read_run
from plimsoll.analysis.logs.hdr.histograms import EMPTY, WIDE, Decoder, encoded_counts, reported_values
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.text.errors import LogError

START_S = 1_700_000_000


def line(end_s: float, took: int | str, *further: int, script: int = 0, client: int = 0) -> str:
    at_us = round(end_s * 1e6)
    words = (client, 0, took, script, START_S + at_us // 10**6, at_us % 10**6, *further)
    return " ".join(map(str, words)) + "\n"


def log(*lines: str, name: str = "pgbench_log.77") -> RunFile:
    """Return the lines, each client's numbered one after another."""
    numbers: dict[str, int] = {}
    text = ""
    for one in lines:
        client, _, rest = one.split(" ", 2)
        numbers[client] = numbers.get(client, 0) + 1
        text += f"{client} {numbers[client]} {rest}"
    return RunFile(name, text.encode())


def values(track: Track) -> list[list[int]]:
    """Return the reported values of each record, µs."""
    reported = reported_values()
    found = [Decoder("us").merge_used([record], track.name) for record in track.records]
    return [[int(reported[slot]) for slot in np.flatnonzero(counts) for _ in range(counts[slot])] for counts in found]


def test_every_transaction_counts_in_the_second_of_its_end_and_seconds_without_one_are_empty() -> None:
    found = read_run([log(line(0.25, 250_000, 90), line(0.75, 1_000, 60, client=1), line(3.5, 500, 30))], ReadOptions())
    [track] = found.tracks
    assert (found.title, found.unit.unit, found.errors) == ("pgbench log of transactions", "us", {})
    assert track.operation == ""
    assert found.started_at == datetime.fromtimestamp(START_S, UTC)
    assert values(track) == [[1_000, 250_111], [], [], [500]]
    assert [record.start_s for record in track.records] == [START_S + second for second in range(4)]
    assert found.notes == ()


def test_threads_are_one_run_and_scripts_are_operations() -> None:
    first = log(line(1, 1_000_000, 40), line(1.5, 10, 40, script=1))
    second = log(line(1.6, 20, 40, script=1), name="pgbench_log.77.1")
    found = read_run([first, second], ReadOptions(kinds={"script-1": "reads"}))
    assert {track.operation: values(track) for track in found.tracks} == {
        "script-0": [[], [1_000_447]],
        "reads": [[], [10, 20]],
    }


def test_what_failed_or_was_skipped_is_counted_by_its_kind() -> None:
    failed = [line(1, kind, 0) for kind in ("serialization", "deadlock", "skipped", "skipped")]
    found = read_run([log(line(1, 1_000, 40), *failed)], ReadOptions())
    assert found.errors == {"serialization": 1, "deadlock": 1, "skipped": 2}


@pytest.mark.parametrize(("further", "is_paced"), [((), False), ((3,), False), ((310,), True), ((0, 0), True)])
def test_times_count_from_the_schedule_only_where_the_log_has_its_lag(further: tuple[int, ...], is_paced: bool) -> None:
    found = read_run([log(line(1, 1_000, *further), line(1.1, 1_000, *further))], ReadOptions())
    assert any(COORDINATED_OMISSION in note for note in found.notes) != is_paced


def test_a_last_line_that_was_cut_is_left_out_and_a_log_without_a_line_is_refused() -> None:
    found = read_run([log(line(1, 1_000, 40), line(1.2, 2_000, 40)[:-9])], ReadOptions())
    assert values(found.tracks[0]) == [[1_000]]
    assert "pgbench_log.77, line 2: the last line is cut short" in found.notes[0]
    with pytest.raises(LogError, match="holds no transaction"):
        read_run([RunFile("pgbench_log.77", b"0 1 12 0 1700000000 12")], ReadOptions(), "pgbench")


def test_another_unit_contradicts_the_log() -> None:
    with pytest.raises(LogError, match="its values are in us, not in ms"):
        read_run([log(line(1, 1_000, 40))], ReadOptions(unit="ms"))


def test_what_is_encoded_is_decoded_alike() -> None:
    given = np.array([0, 1, 999, 1_000_000, 3_599_000_000], dtype=np.int64)
    counts = Decoder("us").merge([Record("", 0, 1, encoded_counts(np.bincount(WIDE.index_of(given))), 1)], "made here")
    assert [int(reported_values()[slot]) for slot in np.flatnonzero(counts)] == [0, 1, 999, 1_000_447, 3_600_809_983]
    assert Decoder("us").merge_used([Record("", 0, 1, EMPTY, 1)], "made here").sum() == 0


def failures(*files: RunFile) -> list[tuple[str, str, list[float]]]:
    found = read_run(files, ReadOptions())
    return [(one.operation, one.kind, [round(at - START_S, 3) for at in one.at_s]) for one in found.failures]


def test_what_was_skipped_was_due_between_the_transactions_beside_it() -> None:
    """A stall from 10 to 13 s: one transaction waits, and those that were due meanwhile are skipped at its end."""
    skipped = [line(13.001, "skipped", 0)] * 5
    stalled = log(line(10.001, 1_000, 50), line(13, 3_000_000, 100), *skipped, line(13.2, 200_000, 5_000))
    assert failures(stalled) == [("", "skipped", [10.5, 11.0, 11.5, 12.0, 12.5])]
    still = log(line(10.001, 1_000, 50), line(13, 3_000_000, 100), *skipped[:3])
    assert failures(still) == [("", "skipped", [11.0, 12.001, 13.001])]


def test_what_failed_began_where_there_is_no_schedule_when_the_one_before_had_ended() -> None:
    found = log(line(1, 1_000), line(9, "failed"), line(9.5, 1_000), line(9.9, "deadlock", script=1))
    assert failures(found) == [("script-0", "failed", [1.0]), ("script-1", "deadlock", [9.5])]


def test_a_run_that_ends_with_failures_is_as_long_as_they_are() -> None:
    found = read_run([log(line(1, 1_000), *(line(1 + second, "failed") for second in range(1, 13)))], ReadOptions())
    assert len(found.tracks[0].records) == 13
    assert found.failures[0].total == 12


def test_a_log_of_failures_alone_has_no_times_but_is_a_run() -> None:
    found = read_run([log(*(line(second, "failed") for second in range(1, 5)))], ReadOptions())
    assert [values(track) for track in found.tracks] == [[[]] * 4]
    assert found.errors == {"failed": 4}


def steady(client: int, until_s: float, from_s: float = 0.0) -> list[str]:
    return [line(from_s + step / 4 + 0.1, 1_000, client=client) for step in range(int(4 * (until_s - from_s)))]


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ([log(*steady(0, 40)), log(*steady(1, 13), name="b")], "b, client 1: ends 26.9.*it gave up"),
        ([log(*steady(0, 40)), log(*steady(1, 40, 9), name="b")], "b, client 1: begins 9.000 s after the first"),
        ([log(*steady(0, 40), *steady(1, 13))], "client 1: ends 26.9"),
        ([log(*steady(0, 20), *steady(0, 40, 12))], "client 0, line 81: begins 7.750 s before .* clock jumped back"),
        ([log(*steady(0, 10), *steady(0, 40, 20))], "no client has an operation for 10.2.* clock jumped forward"),
        ([log(*steady(0, 10)), log(*steady(0, 10), name="b")], "b: holds the same transactions as"),
        ([log(*steady(0, 10)), log(*steady(0, 9), name="b")], "b: holds the same transactions as"),
        ([log(*steady(2, 40), *steady(3, 40))], "no transaction of client 0, 1: the log of a thread is missing"),
        ([RunFile("a", log(*steady(0, 4)).data.replace(b"0 9 1000", b"0 19 1000"))], "transaction 19 of client 0"),
        ([RunFile("a", log(*steady(0, 4)).data.replace(b"0 9 1000", b"0 9 whatever"))], "a, line 9: is no line of"),
    ],
)
def test_each_client_s_lines_are_a_run_without_gaps(files: list[RunFile], fault: str) -> None:
    with pytest.raises(LogError, match=fault):
        read_run(files, ReadOptions())


def test_what_follows_the_end_of_a_client_shortly_before_the_others_is_not_judged() -> None:
    found = read_run([log(*steady(0, 40)), log(*steady(1, 34), name="b")], ReadOptions())
    assert "pgbench_log.77: a client ended 5.999 s before the others; nothing is judged after it" in found.notes
    assert found.tracks[0].ends[-1] == pytest.approx(START_S + 33.85)


@pytest.mark.parametrize(
    ("sevenths", "is_lag"),
    [
        ([0, 1, 0, 2, 31, 0], False),
        ([60, 71, 80, 90, 55, 77, 300, 44, 60, 2], True),
        ([60, 7, 3, 2, 90, 5], False),
    ],
)
def test_a_number_of_tries_is_no_lag(sevenths: list[int], is_lag: bool) -> None:
    lines = [line(1 + step, 1_000, seventh) for step, seventh in enumerate(sevenths)]
    found = read_run([log(*lines)], ReadOptions())
    assert any(COORDINATED_OMISSION in note for note in found.notes) != is_lag
    assert any("taken for a number of tries" in note for note in found.notes) != is_lag


def test_a_client_that_falls_behind_has_a_schedule_and_one_whose_failures_have_tries_has_none() -> None:
    late = [line(1 + step / 10, 300_000, 250_000 if step else 9) for step in range(4)]
    assert not any(COORDINATED_OMISSION in note for note in read_run([log(*late)], ReadOptions()).notes)
    given_up = [line(1, 1_000, 40), line(2, "serialization", 99), line(3, 1_000, 40)]
    assert any(COORDINATED_OMISSION in note for note in read_run([log(*given_up)], ReadOptions()).notes)


def test_a_lag_is_pgbench_s_own_only_where_its_client_was_free() -> None:
    # Due at 1, 2 and 2.5 s. The first began 5 ms late; the third waited for the second, which took until 3 s.
    lines = [line(1.1, 100_000, 5_000), line(3, 1_000_000, 0), line(3.1, 600_000, 500_000), line(4, 10_000, 0, 0)]
    found = read_run([log(*lines)], ReadOptions())
    assert found.own_lag_p99_ms is not None
    assert 4.5 < found.own_lag_p99_ms < 5.1
    assert read_run([log(line(1.1, 100_000), line(3, 1_000_000))], ReadOptions()).own_lag_p99_ms is None


LAGS = [0, 300, 2, 7, 60, 4_000, 90]


@pytest.mark.parametrize("lines_at_once", [4, 13])
@pytest.mark.parametrize("further", ["none", "lags", "tries", "both"])
def test_lines_count_alike_however_many_are_read_at_once(
    lines_at_once: int, further: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three clients one is always skipped, one is skipped for a while and one fails at its end."""
    columns: dict[str, list[tuple[int, ...]]] = {
        "none": [()] * 7,
        "lags": [(lag,) for lag in LAGS],
        "tries": [(0,), (1,)],
        "both": [(80, 0), (900, 2)],
    }
    kinds = {(0, step): "skipped" for step in range(20)} | {(1, step): "skipped" for step in (3, 4, 5, 9, 15)}
    kinds |= {(2, step): "serialization" for step in (17, 18, 19)}
    lines = [
        line(
            step / 4 + client / 50,
            kinds.get((client, step), 1_000 + 37 * step) if further in ("lags", "both") or client == 2 else 900 + step,
            *columns[further][(step + client) % len(columns[further])],
            client=client,
            script=step % 2,
        )
        for step in range(20)
        for client in range(3)
    ]
    files = [log(*lines), log(*steady(3, 5), name="b")]
    at_once = read_run(files, ReadOptions())
    monkeypatch.setattr(pgbench_lines, "_CHUNK", lines_at_once)
    found = read_run(files, ReadOptions())
    assert [values(track) for track in found.tracks] == [values(track) for track in at_once.tracks]
    assert [track.records[0].start_s for track in found.tracks] == [one.records[0].start_s for one in at_once.tracks]
    assert [(one.kind, one.operation, sorted(one.at_s)) for one in found.failures] == [
        (one.kind, one.operation, sorted(one.at_s)) for one in at_once.failures
    ]
    assert (found.notes, found.errors, found.own_lag_p99_ms) == (at_once.notes, at_once.errors, at_once.own_lag_p99_ms)


def test_a_long_log_takes_little_more_memory_than_its_own_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgbench_lines, "_CHUNK", 400)
    long = log(*(line(step / 5_000, 1_000 + step % 50, client=step % 4) for step in range(8_000)))
    read_run([RunFile("a", long.data[:160])], ReadOptions())  # imports
    tracemalloc.start()
    try:
        read_run([long], ReadOptions())
        assert tracemalloc.get_traced_memory()[1] < 2.5 * len(long.data)
    finally:
        tracemalloc.stop()


def test_a_time_that_no_run_reaches_is_damaged() -> None:
    with pytest.raises(LogError, match="spans 1,000,001 s, so a time is damaged"):
        read_run([log(line(0, 1_000), line(1_000_001, 1_000, client=1))], ReadOptions())


def test_a_log_of_an_empty_line_holds_no_transaction() -> None:
    with pytest.raises(LogError, match="holds no transaction") as refused:
        read_run([log(line(0, 1_000), line(0.1, 1_000)), RunFile("b", b"\n")], ReadOptions(), "pgbench")
    assert refused.value.where == "b"
