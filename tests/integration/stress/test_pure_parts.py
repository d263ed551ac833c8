"""Schedule, units, keys and texts, against exact arithmetic."""

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from plimsoll.adapters.generators.plimsoll_stress.catalogue import catalogue
from plimsoll.domain.text.units import parse_count

SECOND = 10**9
DAY = 86_400 * SECOND


def test_counts_have_suffixes_of_thousands(ask: Callable[..., Any]) -> None:
    answers = ask("count 200000", "count 20k", "count 100M", "count 1B", "count 7")
    assert answers == ["200000", "20000", "100000000", "1000000000", "7"]


@pytest.mark.parametrize("count", ["1.5M", "1 M", "1.005k", "0.5G", "1234567890123", str(2**63 - 1), " 7 "])
def test_counts_are_those_of_definitions(ask: Callable[..., Any], count: str) -> None:
    assert ask(f"count {count}") == [str(parse_count(count))]


def test_durations_take_days_hours_minutes_and_seconds(ask: Callable[..., Any]) -> None:
    answers = ask(
        "duration 150m", "duration 90s", "duration 2h", "duration 1h30m", "duration 1d 2h 3m 4s", "duration 0s"
    )
    assert answers == ["9000", "90", "7200", "5400", "93784", "0"]


@pytest.mark.parametrize("text", ["count -1", "count 10T", "count 1.k", "duration 5", "duration 5m3h", "duration m"])
def test_other_numbers_are_refused_with_examples(ask: Callable[..., Any], text: str) -> None:
    (answer,) = ask(text)
    assert answer.startswith("refused: ")
    assert "such as" in answer


@pytest.mark.parametrize("count", ["1.5", "1.0005k", str(2**63), "10000000000G"])
def test_a_count_that_is_not_whole_or_too_large_is_refused(ask: Callable[..., Any], count: str) -> None:
    assert ask(f"count {count}") == [f"refused: '{count}' is no whole number, or too large"]


@pytest.mark.parametrize("rate", [1, 3, 7, 3000, 120_000, 999_983])
def test_every_intended_start_is_exact_to_the_nanosecond(ask: Callable[..., Any], rate: int) -> None:
    lanes = 8
    positions = [0, 1, 2, 997, 10**6 + 3, 9000 * rate, rate * 86_400 - 1]
    questions = [f"intended {rate} {lanes} {lane} {n}" for n in positions for lane in (0, 3, 7)]
    exact = [math.floor(Fraction((n * lanes + lane) * SECOND, rate)) for n in positions for lane in (0, 3, 7)]
    assert [int(answer) for answer in ask(*questions)] == exact


@pytest.mark.parametrize("rate", [1, 3, 3000, 120_000])
def test_what_is_due_is_what_was_meant_to_start_by_then(ask: Callable[..., Any], rate: int) -> None:
    total = rate * 86_400
    times = [
        0,
        1,
        SECOND // rate - 1,
        SECOND // rate,
        SECOND // rate + 1,
        SECOND - 1,
        SECOND,
        9000 * SECOND,
        DAY,
        2 * DAY,
    ]
    exact = [min(total, math.floor(Fraction(min(time, DAY) * rate, SECOND)) + 1) for time in times]
    answers = [int(answer) for answer in ask(*(f"due {rate} {total} {time}" for time in times))]
    # An intended start is rounded down to a nanosecond: what is due at t is every position whose rounded start is ≤ t.
    assert all(0 <= answer - expected <= 1 for answer, expected in zip(answers, exact, strict=True))
    starts = ask(*(f"intended {rate} 1 0 {max(0, answer - 1)}" for answer in answers))
    assert all(int(start) <= time for start, time in zip(starts, times, strict=True))


def test_a_run_of_a_second_has_as_many_positions_as_the_rate(ask: Callable[..., Any]) -> None:
    assert ask(f"due 3000 {10**9} {SECOND - 1}", f"due 3000 {10**9} {SECOND}") == ["3000", "3001"]


def test_nothing_is_due_before_the_start_and_all_at_once_without_a_rate(ask: Callable[..., Any]) -> None:
    assert ask("due 3000 500 -1", "due 0 500 0", "intended 0 8 3 77") == ["0", "500", "0"]


def test_lanes_share_every_position_once(ask: Callable[..., Any]) -> None:
    for total in (0, 1, 7, 8, 1003):
        assert sum(int(size) for size in ask(*(f"size {total} 8 {lane}" for lane in range(8)))) == total


def test_a_sequence_of_keys_goes_to_the_last_partition_and_starts_again(ask: Callable[..., Any]) -> None:
    (keys,) = ask("keys sequence 4 7")
    assert keys.split() == [f"001.3.{n}" for n in (0, 1, 2, 3, 4, 0, 1)]


def test_random_and_normal_keys_stay_in_their_range_and_follow_the_seed(ask: Callable[..., Any]) -> None:
    first, again, normal = ask("keys random 100 500", "keys random 100 500", "keys normal 100 500")
    assert first == again
    numbers = {
        choice: [int(key.rpartition(".")[2]) for key in keys.split()]
        for choice, keys in (("random", first), ("normal", normal))
    }
    assert all(0 <= number <= 100 for choice in numbers.values() for number in choice)
    assert len(set(numbers["random"])) > 90
    in_the_middle = [number for number in numbers["normal"] if 25 <= number <= 75]
    assert len(in_the_middle) > 0.9 * len(numbers["normal"])


def test_texts_are_100_to_199_capital_letters(ask: Callable[..., Any]) -> None:
    (texts,) = ask("text 1 2000")
    lengths = {len(text) for text in texts.split()}
    assert (min(lengths), max(lengths)) == (100, 199)
    assert set(texts) == {" ", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def test_errors_of_the_driver_are_sorted_by_kind(ask: Callable[..., Any]) -> None:
    answers = ask("error timeout", "error no_node", "error all_failed", "error closed", "error what")
    assert answers == ["client_timeout", "connection", "connection", "connection", "other"]
    answers = ask("error write_failure", "error cdc", "error read_failure", "error lightweight", "error server_error")
    assert answers == ["write_failure", "write_failure", "read_failure", "write_timeout", "server_error"]


def test_a_connection_that_breaks_is_no_error_of_another_kind(ask: Callable[..., Any]) -> None:
    assert ask("error closed_channel", "error reset", "error pipe", "error closing") == ["connection"] * 4
    # That is the load host's own limit, which its message shows.
    assert ask("error no_address") == ["other"]


@pytest.mark.parametrize(("generators", "lanes", "rate"), [(1, 3, 7), (2, 4, 3000), (3, 2, 100), (5, 1, 999_983)])
def test_generators_that_share_a_schedule_have_together_exactly_the_positions_of_one(
    ask: Callable[..., Any], generators: int, lanes: int, rate: int
) -> None:
    total = 217
    splits = [f"{number}/{generators}" for number in range(1, generators + 1)]
    sizes = {
        (split, lane): int(ask(f"size {total} {lanes} {lane} {split}")[0]) for split in splits for lane in range(lanes)
    }
    asked = [
        f"intended {rate} {lanes} {lane} {n} {split}" for (split, lane), size in sizes.items() for n in range(size)
    ]
    exact = [math.floor(Fraction(position * SECOND, rate)) for position in range(total)]
    assert sorted(int(answer) for answer in ask(*asked)) == exact


@pytest.mark.parametrize("time", [-1, 0, 333_333_333, SECOND, 71 * SECOND, DAY])
def test_what_is_due_of_generators_that_share_a_schedule_is_what_is_due_of_one(
    ask: Callable[..., Any], time: int
) -> None:
    (whole,) = ask(f"due 100 7001 {time}")
    shares = [int(answer) for answer in ask(*(f"due 100 7001 {time} {number}/3" for number in (1, 2, 3)))]
    assert sum(shares) == int(whole)
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize("split", ["0/3", "4/3", "1/0", "2", "1/2/3", "a/b"])
def test_a_part_that_there_is_not_is_refused(ask: Callable[..., Any], split: str) -> None:
    (answer,) = ask(f"due 1 1 1 {split}")
    assert answer.startswith("refused: ")
    assert "such as 1/3" in answer


def test_a_row_whose_write_times_out_is_written_again_and_one_that_is_wrong_is_not(ask: Callable[..., Any]) -> None:
    answers = ask("retried 0 WRITE_TIMEOUT", "retried 2 WRITE_TIMEOUT", "retried 99 UNAVAILABLE", "retried 9 OTHER")
    assert answers == ["answered 1 0", "answered 3 2", "failed 11 10", "failed 1 0"]


@pytest.mark.parametrize("kind", ["WRITE_FAILURE", "SERVER_ERROR", "OVERLOADED", "CONNECTION"])
def test_a_row_that_a_busy_node_could_not_write_is_written_again(ask: Callable[..., Any], kind: str) -> None:
    assert ask(f"retried 10 {kind}") == ["answered 11 10"]


ROWS = 211
OWN_ROWS = {
    "rows": ROWS,
    "operations": [],
    "population": {
        "statement": "INSERT INTO people (id, note) VALUES (:id, :note)",
        "bind": {
            "id": {"distribution": "sequence", "max": ROWS - 1},
            "note": {"distribution": "fixed", "value": 9, "as": "letters"},
        },
        "read_back": "SELECT id FROM people WHERE id = :id",
    },
}
POPULATED = {
    **{name: {"rows": ROWS} for name in ("KeyValue", "TimeSeries", "StandardRow")},
    "Tabular": {"rows": ROWS, "partsize": 7, "partcount": 31},
    **{f"Ycsb{letter}": {"recordcount": ROWS} for letter in "ABCDEF"},
    "cql": OWN_ROWS,
}
"""Every workload that has rows to populate, with options that give it so many."""
NOT_NUMBERED = {"BasicTimeSeries", "BatchedRows"}


@pytest.mark.parametrize("name", POPULATED)
@pytest.mark.parametrize("parts", [1, 3])
def test_every_row_is_populated_once_and_each_is_read_back_by_what_was_written(
    ask: Callable[..., Any], name: str, parts: int
) -> None:
    options = spaceless(POPULATED[name])
    (answer,) = ask(f"populated {name} {options} 4 {parts}")
    written, different, missing = map(int, answer.split())
    assert (written, missing) == (ROWS, 0)
    # NoSQLBench's sensors and partitions have several rows each, and are read by sensor and partition.
    assert different == ROWS or name in ("TimeSeries", "Tabular")


def test_no_workload_with_rows_is_left_out_here(ask: Callable[..., Any]) -> None:
    assert POPULATED.keys() | NOT_NUMBERED == set(catalogue().by_name)
    assert ask(*(f"populated {name} {{}} 1 1" for name in sorted(NOT_NUMBERED))) == ["none", "none"]


def spaceless(options: Any) -> str:
    return json.dumps(options, separators=(",", ":")).replace(" ", "\\u0020")


def bound(**bind: Any) -> str:
    """Return the question of the row that is written with that bind."""
    bind = {"id": {"distribution": "fixed", "value": 3, **bind}}
    population = {"statement": "INSERT INTO t (id) VALUES (:id)", "bind": bind}
    return f"row cql {spaceless({'operations': [], 'rows': 1, 'population': population})} 0"


def test_a_prefix_stands_before_numbers_and_letters_and_bytes_take_none(ask: Callable[..., Any]) -> None:
    number, letters, refused = ask(
        bound(prefix="u-"), bound(**{"as": "letters"}, prefix="u-"), bound(**{"as": "bytes"}, prefix="u-")
    )
    assert number == "writes\tid=u-3"
    assert re.fullmatch(r"writes\tid=u-[A-Z]{3}", letters)
    assert refused == "refused: bind.id: bytes have no prefix: write `as: letters`, or leave it out"


def test_markers_that_differ_in_capital_letters_alone_are_one_to_the_database(ask: Callable[..., Any]) -> None:
    fixed = {"distribution": "fixed", "value": 3}
    population = {"statement": "INSERT", "bind": {"id": fixed, "Id": fixed}}
    options = {"operations": [], "rows": 1, "population": population}
    assert ask(f"row cql {spaceless(options)} 0") == [
        "refused: bind.Id: is bound twice: the database reads it in small letters"
    ]


def test_a_row_that_the_replica_asked_does_not_have_yet_is_asked_for_again(ask: Callable[..., Any]) -> None:
    assert ask("found 40 0", "found 40 38") == ["40 40", "40 78"]


def test_populating_as_fast_as_it_goes_has_no_rate_and_shows_service_times(ask: Callable[..., Any]) -> None:
    populating, timed = ask("console 0", "console 200")
    assert populating.startswith("populate     10 of about 40 s         0.1 ops/s  service ms p50 5.00 ")
    assert "left 120 " in populating
    assert timed.startswith("measure      10 of 40 s         0.1 of 200 ops/s  response ms p50 44")
    assert "backlog 120 " in timed


def test_the_first_message_of_each_kind_is_kept_and_told_once(ask: Callable[..., Any]) -> None:
    assert ask("remarks 3 7") == ["3 7 21 6 0 IllegalStateException: a at row 0"]
    assert ask("remarks 26 2") == ["20 2 52 40 0 IllegalStateException: a at row 0"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("tinyint 128", "128 is not between -128 and 127"),
        ("smallint 40000", "40000 is not between -32768 and 32767"),
        ("int 3000000000", "3000000000 is not between"),
        ("int now", "is not between"),
        ("int ABC", "'ABC' is no number"),
        ("uuid now", "the present time is no number"),
        ("timeuuid 200000000000000", "is not between 0 and 103072857660684"),
        ("date 3000000000", "is not between"),
        ("blob now", "the present time is no bytes"),
        ("inet 5", "no value can be made for the marker :m of type inet"),
    ],
)
def test_a_value_that_does_not_fit_its_type_is_an_error(ask: Callable[..., Any], question: str, said: str) -> None:
    (answer,) = ask(f"value {question}")
    assert answer.startswith("refused: ")
    assert said in answer


def test_values_that_fit_are_made_whole(ask: Callable[..., Any]) -> None:
    big = 2**62 + 1
    assert ask("value tinyint 127", f"value decimal {big}", "value date 1") == ["127", str(big), "1970-01-02"]


def test_literals_are_quoted_and_stand_at_markers_only(ask: Callable[..., Any]) -> None:
    statement = "INSERT INTO t (a, /* :b */ b, c) VALUES (:a, :b, ':a -- $1'); -- :c"
    expected = "INSERT INTO t (a,   b, c) VALUES ('it''s ? :b', '2026-01-31', ':a -- $1')"
    assert ask(f"literals {statement}") == [expected]
    assert ask("literals SELECT :a")[0].startswith("refused: the statement has 2 markers, of which 1 are found")


def test_an_answer_ends_with_its_last_page_or_its_first(ask: Callable[..., Any]) -> None:
    assert ask("pages 3 comes false", "pages 3 comes true") == ["warned3 warned2 warned1 6", "warned3 2"]
    assert ask("pages 3 fails false", "pages 3 refused false") == ["warned3 failed", "warned3 refused"]


def test_an_unprepared_batch_is_one_text(ask: Callable[..., Any]) -> None:
    assert ask("batch true", "batch false") == [
        "BEGIN BATCH INSERT 1; INSERT 1; APPLY BATCH",
        "BEGIN UNLOGGED BATCH INSERT 1; INSERT 1; APPLY BATCH",
    ]


@pytest.mark.parametrize("last", [107, 125, 137])
def test_a_reader_that_is_late_finds_every_answer_in_the_second_in_which_it_ended(
    ask: Callable[..., Any], last: int
) -> None:
    (answer,) = ask(f"unread 100 {last}")
    assert answer.split() == [*(str(second) for second in range(100, last + 20)), "false"]


def test_a_reader_so_late_that_answers_can_not_be_kept_is_told(ask: Callable[..., Any]) -> None:
    (answer,) = ask("unread 100 150")
    *counts, is_overrun = answer.split()
    assert counts[:38] == [str(second) for second in range(100, 138)]
    assert is_overrun == "true"


def test_a_load_whose_results_can_not_be_kept_ends_with_the_reason(ask: Callable[..., Any]) -> None:
    (answer,) = ask("overrun")
    assert answer.startswith("INCOMPLETE: the results of so many seconds wait to be written")


@pytest.mark.parametrize("more", [0, 3, 9])
def test_an_answer_recorded_after_its_second_was_read_is_in_the_next_one_to_be_read(
    ask: Callable[..., Any], more: int
) -> None:
    (answer,) = ask(f"belated 5 {more}")
    assert answer.split() == [*["0"] * (6 + more), "5", *["0"] * 12]


def test_a_load_that_was_looked_at_has_its_whole_time_again(ask: Callable[..., Any]) -> None:
    # The machine may stand still meanwhile, which gives a load more time, and none less.
    assert 2 <= int(ask("lease 2")[0]) < 60


def test_numbers_are_written_alike_wherever_the_host_is(ask: Callable[..., Any]) -> None:
    assert ask("rule de-DE") == ["1,234 of 20,000 operations of 10 s failed, more than 5 %"]


def test_a_closed_loop_sends_only_when_there_is_room_and_makes_up_for_nothing(ask: Callable[..., Any]) -> None:
    """Of 20 million operations in two seconds; each takes a tenth of a second, two at once."""
    ended, most, counts_from_send, backlog = ask("closed 10000000 2 100")[0].split()
    assert 2 <= int(ended) <= 42
    # An open loop's last operations would have waited for nearly all of the two seconds.
    assert (most, counts_from_send, backlog) == ("2", "true", "0")


def test_a_closed_loop_sends_at_most_at_its_rate(ask: Callable[..., Any]) -> None:
    ended, *_ = ask("closed 10 50 1")[0].split()
    assert 1 <= int(ended) <= 20


@pytest.mark.parametrize(
    ("workload", "options", "accesses"),
    [
        (
            "YcsbF",
            {"fieldcount": 2},
            "read usertable by key|read usertable by key|update field0 of usertable by key|"
            "update field1 of usertable by key|insert field0, field1 of usertable by key|read usertable by key",
        ),
        (
            "YcsbE",
            {"fieldcount": 1},
            "insert field0 of usertable by key|scan usertable by key|insert field0 of usertable by key|"
            "read usertable by key",
        ),
        (
            "BatchedRows",
            {"tables": 2, "at_a_time": 2, "reads": 1},
            "insert title of t1 by id|insert title of t2 by id|read t1 by id0, id1|read t2 by id0, id1",
        ),
        (
            "KeyValue",
            {},
            "read keyvalue by key|insert value of keyvalue by key|insert value of keyvalue by key|read keyvalue by key",
        ),
        ("BasicTimeSeries", {}, "none|none|none"),
    ],
)
def test_operations_by_key_have_a_form_that_no_protocol_owns(
    ask: Callable[..., Any], workload: str, options: Any, accesses: str
) -> None:
    assert ask(f"accesses {workload} {json.dumps(options, separators=(',', ':'))}") == [accesses]
