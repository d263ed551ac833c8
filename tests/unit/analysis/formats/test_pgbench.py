"""pgbench's logs of transactions, by its sources (doLog) and by what PostgreSQL 15 wrote."""

from datetime import UTC, datetime

import numpy as np
import pytest

from plimsoll.analysis.logs.formats import ReadOptions, RunFile, read_run
from plimsoll.analysis.logs.hdr.decode import Decoder
from plimsoll.analysis.logs.hdr.encode import encoded
from plimsoll.analysis.logs.hdr.histogram_layout import reported_values
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.errors import LogError
from plimsoll.domain.log_remarks import COORDINATED_OMISSION

START_S = 1_700_000_000


def line(end_s: float, took: int | str, *further: int, script: int = 0) -> str:
    at_us = round(end_s * 1e6)
    words = (0, 1, took, script, START_S + at_us // 10**6, at_us % 10**6, *further)
    return " ".join(map(str, words)) + "\n"


def log(*lines: str, name: str = "pgbench_log.77") -> RunFile:
    return RunFile(name, "".join(lines).encode())


def values(track: Track) -> list[list[int]]:
    """Return the reported values of each record, µs."""
    reported = reported_values()
    found = [Decoder("us").merge_used([record], track.name) for record in track.records]
    return [[int(reported[slot]) for slot in np.flatnonzero(counts) for _ in range(counts[slot])] for counts in found]


def test_every_transaction_counts_in_the_second_of_its_end_and_seconds_without_one_are_empty() -> None:
    found = read_run([log(line(0.25, 250_000, 900), line(3.5, 500, 30), line(0.75, 1_000, 60))], ReadOptions())
    [track] = found.tracks
    assert (found.title, found.unit, found.errors, track.operation) == ("pgbench log of transactions", "us", {}, "")
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
    failed = [line(1, kind, 40) for kind in ("serialization", "deadlock", "skipped", "skipped")]
    found = read_run([log(line(1, 1_000, 40), *failed)], ReadOptions())
    assert found.errors == {"serialization": 1, "deadlock": 1, "skipped": 2}


@pytest.mark.parametrize(("further", "is_paced"), [((), False), ((3,), False), ((310,), True), ((0, 0), True)])
def test_times_count_from_the_schedule_only_where_the_log_has_its_lag(further: tuple[int, ...], is_paced: bool) -> None:
    found = read_run([log(line(1, 1_000, *further), line(1.1, 1_000, *further))], ReadOptions())
    assert any(COORDINATED_OMISSION in note for note in found.notes) != is_paced


def test_a_last_line_that_was_cut_is_left_out_and_a_log_without_answers_is_refused() -> None:
    found = read_run([log(line(1, 1_000, 40), line(1.2, 2_000, 40)[:-9])], ReadOptions())
    assert values(found.tracks[0]) == [[1_000]]
    with pytest.raises(LogError, match="holds no transaction that was answered"):
        read_run([log(line(1, "failed", 40))], ReadOptions())


def test_another_unit_contradicts_the_log() -> None:
    with pytest.raises(LogError, match="its values are in us, not in ms"):
        read_run([log(line(1, 1_000, 40))], ReadOptions(unit="ms"))


def test_what_is_encoded_is_decoded_alike() -> None:
    given = np.array([0, 1, 999, 1_000_000, 3_599_000_000], dtype=np.int64)
    counts = Decoder("us").merge([Record("", 0, 1, encoded(given), 1)], "made here")
    assert [int(reported_values()[slot]) for slot in np.flatnonzero(counts)] == [0, 1, 999, 1_000_447, 3_600_809_983]
    assert Decoder("us").merge_used([Record("", 0, 1, encoded(given[:0]), 1)], "made here").sum() == 0
