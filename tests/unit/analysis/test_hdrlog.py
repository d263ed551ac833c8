import gzip
import re
from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.campaigns.interval_logs import STARTED_AT_S, every_second, line, log, payload

from plimsoll.analysis.logs.hdr.hdrlog import read_log
from plimsoll.domain.text.errors import LogError

THREE = log(every_second([[100], [200, 300], []]))


def test_records_carry_absolute_times_lengths_and_the_line_they_stand_on() -> None:
    records = read_log(THREE, "x").records
    assert [(record.start_s, record.length_s, record.line) for record in records] == [
        (STARTED_AT_S, 1.0, 5),
        (STARTED_AT_S + 1, 1.0, 6),
        (STARTED_AT_S + 2, 1.0, 7),
    ]
    assert bytes(records[0].payload).decode() == payload([100])


def test_start_time_and_comments_are_kept() -> None:
    found = read_log(THREE, "x")
    assert found.started_at_s == STARTED_AT_S
    assert found.comments[0] == "[Histogram log format version 1.3]"
    assert found.notes == ()


def test_relative_times_without_a_base_time_count_from_the_start_time() -> None:
    found = read_log(log([line(0.0, 1.0, payload([1]))], base_time=False), "x")
    assert found.records[0].start_s == STARTED_AT_S


def test_absolute_times_without_a_base_time_stay_as_they_are() -> None:
    found = read_log(log([line(STARTED_AT_S + 7, 1.0, payload([1]))], base_time=False), "x")
    assert found.records[0].start_s == STARTED_AT_S + 7


def test_a_log_without_any_head_is_read() -> None:
    found = read_log(line(0.0, 1.0, payload([1])).encode(), "x")
    assert (found.records[0].start_s, found.started_at_s) == (0.0, None)


def test_tags_separate_operations() -> None:
    lines = [*every_second([[1], [2]], "insert-rt"), *every_second([[3]], "read-rt")]
    tags = read_log(log(lines), "x").by_tag()
    assert {tag: len(records) for tag, records in tags.items()} == {"insert-rt": 2, "read-rt": 1}


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(THREE),
        gzip.compress(THREE[:300]) + gzip.compress(THREE[300:]),
        THREE.replace(b"\n", b"\r\n"),
        THREE.replace(b'"StartT', b'\n\n"StartT'),
    ],
    ids=["gz", "gz of two members", "carriage returns", "empty lines"],
)
def test_other_wrappings_hold_the_same_records(packed: Any) -> None:
    found = read_log(packed, "x")
    assert [record.payload for record in found.records] == [record.payload for record in read_log(THREE, "x").records]
    assert found.notes == ()


def test_a_last_line_cut_anywhere_is_left_out_and_noted() -> None:
    last = THREE.rstrip(b"\n").rindex(b"\n") + 1
    for end in range(last + 1, len(THREE) - 1):
        found = read_log(THREE[:end], "x")
        assert len(found.records) == 2, end
        assert found.notes == (
            "x, line 7: the last line is cut short (was its writer killed?); the records before it count",
        )


def test_a_log_cut_between_two_lines_is_whole() -> None:
    last = THREE.rstrip(b"\n").rindex(b"\n") + 1
    found = read_log(THREE[:last], "x")
    assert (len(found.records), found.notes) == (2, ())


def test_a_last_line_that_only_lacks_its_line_feed_counts() -> None:
    found = read_log(THREE[:-1], "x")
    assert (len(found.records), found.notes) == (3, ())


def test_a_last_line_of_zeros_after_a_crash_is_left_out() -> None:
    found = read_log(THREE + bytes(512), "x")
    assert (len(found.records), len(found.notes)) == (3, 1)


def test_a_gz_cut_short_keeps_what_can_be_read() -> None:
    whole = log(every_second([[value] for value in range(1, 400)]))
    packed = gzip.compress(whole)
    found = read_log(packed[: len(packed) // 2], "x.gz")
    assert 50 < len(found.records) < 399
    assert any("the gz ends before its end" in note for note in found.notes)


def test_damage_inside_a_gz_is_an_error() -> None:
    packed = bytearray(gzip.compress(THREE))
    packed[20:40] = b"\xff" * 20
    with pytest.raises(LogError, match="damaged gz"):
        read_log(bytes(packed), "x.gz")


@pytest.mark.parametrize(
    "bad",
    ["1.0,1.0\n", "nan,1.0,0.0,HIST\n", "a,1.0,0.0,HIST\n", "Timestamp, Elapsed Time\n", "Tag=x\n", "\x00\x01\n"],
)
def test_a_line_of_another_kind_is_an_error_that_names_it(bad: str) -> None:
    with pytest.raises(LogError, match=r"x, line 5: is not a line of a histogram log"):
        read_log(log([bad, *every_second([[1]])]), "x")


@pytest.mark.parametrize("empty", [b"", b"\n", log([])], ids=["nothing", "an empty line", "only a head"])
def test_a_log_without_records_is_an_error(empty: Any) -> None:
    with pytest.raises(LogError, match="x: holds no interval record"):
        read_log(empty, "x")


def ending(lines: Sequence[str]) -> bytes:
    """Return a log with end times in its second column."""
    return log(re.sub(r"^(Tag=\w+,)?([\d.]+),([\d.]+),", _ended, one) for one in lines)


def _ended(found: re.Match[str]) -> str:
    return f"{found[1] or ''}{found[2]},{float(found[2]) + float(found[3]):.3f},"


@pytest.mark.parametrize("start_s", [0.0, 300.0, STARTED_AT_S])
def test_end_times_in_the_second_column_are_taken_for_what_they_are_and_told(start_s: float) -> None:
    lengths = [1.0, 1.0, 1.02, 0.98, 0.5]
    lines = [line(start_s + sum(lengths[:place]), length, payload([1])) for place, length in enumerate(lengths)]
    found = read_log(ending(lines).replace(b"#[BaseTime", b"#[Other"), "x")
    assert [round(record.length_s, 3) for record in found.records] == lengths
    assert found.notes == ("x: the second column holds end times where lengths belong; lengths are computed from them",)


def test_lengths_are_never_taken_for_end_times() -> None:
    for lines in (every_second([[1]] * 2), every_second([[1]] * 9), [line(s, s + 1, payload([1])) for s in (0, 1)]):
        assert read_log(log(lines), "x").notes == ()
    growing = [line(2.0**place, 2.0**place, payload([1])) for place in range(8)]
    assert read_log(log(growing), "x").notes == ()


def test_tags_with_end_times_are_taken_together() -> None:
    lines = [*every_second([[1]] * 4, "a"), *every_second([[1]] * 4, "b")]
    assert {record.length_s for record in read_log(ending(lines), "x").records} == {1.0}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_every_form_of_unicode_and_of_line_ends_is_read(encoding: str, mark: str, end: str) -> None:
    text = (mark + THREE.decode().replace("\n", end)).encode(encoding)
    for data in (text, gzip.compress(text)):
        assert [record.payload for record in read_log(data, "x").records] == [
            record.payload for record in read_log(THREE, "x").records
        ]


@pytest.mark.parametrize("row", ["0,000,1,000,2,001,HIST", "Tag=a,0,000,1,000,2,001,HIST", "0,000,1,000,2001.0,HIST"])
def test_decimal_commas_are_named(row: str) -> None:
    with pytest.raises(LogError, match=r"x, line 5: has decimal commas(.|\n)*Locale\.US"):
        read_log(log([f"{row}FAAAAA\n"]), "x")


@pytest.mark.parametrize(
    "last",
    ["END OF RUN", "3.000,1.000,0.001,HISTFAAA!", "Total: 17", "3.000;1.000;0.001;HIST", "Tag=a b,c,d"],
)
def test_a_last_line_that_is_no_beginning_of_a_record_is_an_error_that_names_it(last: str) -> None:
    with pytest.raises(LogError, match=r"x, line 8: is not a line of a histogram log|x, line 8: the last line"):
        read_log(THREE + last.encode(), "x")


def test_a_last_line_of_its_whole_length_that_is_damaged_is_an_error_and_not_cut() -> None:
    letters = bytearray(THREE[:-1])
    letters[-20:-10] = b"AAAAAAAAAA"
    with pytest.raises(LogError, match=r"x, line 7: the last line has its whole length, but its histogram can't be"):
        read_log(bytes(letters), "x")


def test_comments_between_records_and_the_same_start_time_again_are_read() -> None:
    lines = [*every_second([[1]]), "#a remark\n", f"#[StartTime: {STARTED_AT_S:.3f} (seconds since epoch)]\n"]
    assert len(read_log(log([*lines, line(1, 1, payload([1]))]), "x").records) == 2


def test_the_base_time_as_older_go_writes_it_counts() -> None:
    data = log([line(7.0, 1.0, payload([1]))]).replace(b"#[BaseTime: 1795201196.500", b"#[Basetime: 1795201000")
    assert read_log(data, "x").records[0].start_s == 1_795_201_007.0


def test_two_logs_in_one_file_are_an_error() -> None:
    second = THREE.replace(b"1795201196.500", b"1795209999.500")
    with pytest.raises(LogError, match="x, line 9: a second StartTime: two logs in one file"):
        read_log(THREE + second, "x")


def test_a_start_that_is_no_number_is_an_error() -> None:
    with pytest.raises(LogError, match=r"x, line 2: StartTime is no number: 1\.2\.3"):
        read_log(b"#[Histogram log]\n#[StartTime: 1.2.3 (seconds since epoch)]\n" + THREE, "x")
