import base64
import struct
from typing import Any

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.campaigns.interval_logs import HOUR_US, body_of, every_second, log, old_payload, packed, payload

from plimsoll.analysis.logs.hdr.hdrlog import read_log
from plimsoll.analysis.logs.hdr.histograms import WIDE, Decoder, wide_length
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.domain.text.errors import LogError

VALUES = st.lists(st.integers(0, HOUR_US), max_size=30)


def record(content: str) -> Record:
    return Record("", 0.0, 1.0, memoryview(content.encode()), 17)


def counted(values: list[int]) -> np.ndarray:
    """Count naively, one value after another."""
    counts = np.zeros(wide_length("us"), dtype=np.int64)
    for value in values:
        counts[WIDE.index_of(np.array([value]))] += 1
    return counts


@given(parts=st.lists(VALUES, max_size=5))
def test_merged_records_count_what_all_their_values_together_do(parts: Any) -> None:
    merged = Decoder("us").merge([record(payload(values)) for values in parts], "x")
    assert (merged == counted([value for values in parts for value in values])).all()


@given(values=VALUES, highest=st.sampled_from([HOUR_US, 2 * HOUR_US, 10 * HOUR_US]))
def test_histograms_that_could_count_more_fit_as_long_as_they_do_not(values: Any, highest: Any) -> None:
    assert (Decoder("us").merge([record(payload(values, highest=highest))], "x") == counted(values)).all()


@given(values=st.lists(st.integers(0, HOUR_US), max_size=30), digits=st.sampled_from([1, 2, 4]))
def test_other_precisions_are_counted_at_the_highest_value_of_their_slots(values: Any, digits: Any) -> None:
    source = HdrHistogram(1, HOUR_US, digits)
    most = int(WIDE.highest_values(np.array([wide_length("us") - 1]))[0])
    highest = [min(source.get_highest_equivalent_value(value), most) for value in values]
    merged = Decoder("us").merge([record(payload(values, digits=digits))], "x")
    assert (merged == counted(highest)).all()


@pytest.mark.parametrize(("digits", "reported"), [(1, 102_399), (2, 100_351), (3, 100_223)])
def test_a_value_of_few_digits_is_reported_as_its_own_histogram_reports_it_and_never_below(
    digits: int, reported: int
) -> None:
    merged = Decoder("us").merge([record(payload([100_200], digits=digits))], "x")
    assert WIDE.highest_values(np.flatnonzero(merged)).tolist() == [reported]


def test_a_lowest_value_of_a_thousand_is_read() -> None:
    merged = Decoder("ns").merge([record(payload([5_000_000, 5_000_000], lowest=1000))], "x")
    found = np.flatnonzero(merged)
    assert merged[found].tolist() == [2]
    assert 5_000_000 <= WIDE.highest_values(found)[0] < 5_010_000


@given(
    parts=st.lists(st.tuples(VALUES, st.sampled_from([1, 1_000])), min_size=5, max_size=20),
    bad=st.none() | st.integers(0, 4),
)
@settings(max_examples=25)
def test_many_records_of_two_layouts_count_as_each_does_by_itself_whatever_came_before(parts: Any, bad: Any) -> None:
    decoder = Decoder("us")
    records = [record(payload(values, lowest=lowest)) for values, lowest in parts]
    if bad is not None:
        with pytest.raises(LogError):
            decoder.merge([*records[:bad], record(packed(_body(counts=b"\x06\x80"))), *records[bad:]], "x")
    expected = sum((Decoder("us").merge([one], "x") for one in records), start=np.zeros(wide_length("us"), np.int64))
    assert (decoder.merge(records, "x") == expected).all()


@pytest.mark.parametrize("values", [[], [0], [1, 90_000], [HOUR_US]])
def test_counts_can_be_had_up_to_the_last_slot_in_use(values: list[int]) -> None:
    merged = Decoder("us").merge_used([record(payload(values)), record(payload([]))], "x")
    whole = counted(values)
    assert len(merged) == max(np.flatnonzero(whole), default=0) + 1
    assert (merged == whole[: len(merged)]).all()


def test_no_records_are_no_counts() -> None:
    assert not Decoder("us").merge([], "x").any()


def test_a_decoder_used_again_remembers_nothing() -> None:
    decoder = Decoder("us")
    first = decoder.merge([record(payload([1, 2, 3]))], "x")
    assert (decoder.merge([record(payload([1, 2, 3]))], "x") == first).all()


def test_nanoseconds_read_as_microseconds_are_refused_with_a_hint() -> None:
    two_hours = payload([7_200_000_000], highest=100 * HOUR_US)
    with pytest.raises(LogError, match=r"x, line 17: .*above one hour, if its values are in us(.|\n)*check the unit"):
        Decoder("us").merge([record(two_hours)], "x")
    assert Decoder("ns").merge([record(two_hours)], "x").sum() == 1


def test_a_failed_record_leaves_no_trace_in_the_next() -> None:
    decoder = Decoder("us")
    with pytest.raises(LogError):
        decoder.merge([record(payload([5, 7_200_000_000], highest=100 * HOUR_US))], "x")
    assert (decoder.merge([record(payload([9]))], "x") == counted([9])).all()


def _body(
    counts: bytes = b"\x02", cookie: int = 0x1C849313, offset: int = 0, digits: int = 3, lowest: int = 1
) -> bytes:
    return struct.pack(">IIIIQQd", cookie, len(counts), offset, digits, lowest, HOUR_US, 1.0) + counts


def test_the_hand_made_payload_itself_is_read() -> None:
    assert Decoder("us").merge([record(packed(_body()))], "x")[0] == 1


@pytest.mark.parametrize("offset", [1, 5])
@pytest.mark.parametrize(("version", "cookie"), [(1, 0x1C849302), (2, 0x1C849314)])
def test_a_normalizing_offset_moves_no_count(version: int, cookie: int, offset: int) -> None:
    """HdrHistogramJS writes 1 and the counts in order, so that another reading would shift every value."""
    content = packed(body_of([7, 7, 900], offset=offset, version=version), cookie=cookie)
    assert (Decoder("us").merge([record(content)], "x") == counted([7, 7, 900])).all()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("@@@@", "cut short"),
        ("HIST", "cut short"),
        (payload([1])[:-4], "bytes where"),
        (packed(_body(), cookie=0x1C849305), "not a compressed histogram"),
        (packed(_body(), cookie=0x0C72124F), "DoubleHistogram"),
        (packed(_body(cookie=0x1C849304)), "not an encoded histogram"),
        (packed(_body(cookie=0x1C849301)), "impossible"),
        (packed(_body(cookie=0x1C849381)), "ends within a count"),
        (packed(_body()[:-1]), "0 bytes of counts where 1 are announced"),
        (packed(b"short"), "too short"),
        (packed(_body(digits=9)), "impossible"),
        (packed(_body(lowest=0)), "impossible"),
        (packed(_body(counts=b"\x80")), "varint"),
        (packed(_body(struct.pack(">qq", 3, -1), cookie=0x1C849381)), "negative count"),
        (base64.b64encode(struct.pack(">II", 0x1C849314, 4) + b"abcd").decode(), "does not inflate"),
    ],
)
def test_a_payload_that_is_no_histogram_is_an_error_that_names_the_line(content: Any, why: str) -> None:
    with pytest.raises(LogError, match=rf"x, line 17: the histogram can't be decoded .*{why}"):
        Decoder("us").merge([record(content)], "x")


def test_counts_beyond_what_can_be_added_are_an_error() -> None:
    huge, decoder = record(packed(_body(struct.pack(">q", 1 << 62), cookie=0x1C849381))), Decoder("us")
    with pytest.raises(LogError, match="x: its counts are higher than 64 bits hold"):
        decoder.merge([huge] * 3, "x")
    assert not decoder.merge([], "x").any()


def test_a_log_file_is_counted_whole() -> None:
    records = read_log(log(every_second([[100], [200, 300], []])), "x").records
    assert (Decoder("us").merge(records, "x") == counted([100, 200, 300])).all()


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("word_bytes", [2, 4, 8])
def test_the_older_encodings_hold_the_same_counts(version: int, word_bytes: int) -> None:
    values = [0, 1, 2047, 2048, 90_000, 90_000, HOUR_US]
    merged = Decoder("us").merge([record(old_payload(values, version, word_bytes)), record(payload([7]))], "x")
    assert (merged == counted([*values, 7])).all()


def test_an_older_encoding_of_another_precision_is_fitted() -> None:
    values = [0, 5, 70_000, 123_456_789]
    merged = Decoder("us").merge([record(old_payload(values, 1, 8, digits=2))], "x")
    assert (merged == Decoder("us").merge([record(payload(values, digits=2))], "x")).all()


def test_an_older_encoding_with_a_value_beyond_the_hour_is_refused() -> None:
    two_hours = old_payload([HOUR_US], 0, 8)
    with pytest.raises(LogError, match="above one hour, if its values are in ms"):
        Decoder("ms").merge([record(two_hours)], "x")
