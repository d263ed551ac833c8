import pytest

from plimsoll.domain.keys.log_words import Column, implied, named_unit, pairs, parse_columns


def test_columns_are_named_by_their_role_with_a_unit_by_colon_or_by_the_name_itself() -> None:
    columns = parse_columns(pairs(["time=ts:ms, latency=elapsed_ms", "outcome=rc:0|7,operation=label,only=type:Point"]))
    assert columns.moments == {"time": Column("ts", "ms")}
    assert columns.latency == Column("elapsed_ms", "ms")
    assert not columns.is_response
    assert (columns.ok, columns.ok_values) == ((Column("rc"),), {"0", "7"})
    assert (columns.operation, columns.only, columns.only_values) == (Column("label"), Column("type"), {"Point"})


@pytest.mark.parametrize(
    ("text", "is_response"),
    [("due=t,latency=l", True), ("end=t,response=l", True), ("end=t,latency=l", False), ("due=t,end=e", True)],
)
def test_times_count_from_the_intended_start_where_the_user_says_so(text: str, *, is_response: bool) -> None:
    assert parse_columns(pairs([text])).is_response == is_response


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("latency=l", "say when operations were sent"),
        ("time=t", "say how long operations took"),
        ("time=t,due=d", "say how long operations took"),
        ("time=t,response=l", "name the column of the intended start as `due`"),
        ("time=t,end=e,latency=l", "give one of"),
        ("tme=t,latency=l", "did you mean 'time'"),
        ("time=t,latency=l,only=type", "only=type:VALUE"),
        ("time=t,latency=l,delimiter=::", "write one character"),
        ("time", "is not NAME=COLUMN"),
        ("time=a,time=b", "given twice"),
    ],
)
def test_columns_that_are_not_enough_are_refused_with_a_way(text: str, mend: str) -> None:
    with pytest.raises(ValueError, match=mend):
        parse_columns(pairs([text]))


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("elapsed_ms", "ms"),
        ("latency(us)", "us"),
        ("latency [ns]", "ns"),
        ("response-time-s", "s"),
        ("latencyMs", "ms"),
        ("durationMillis", "ms"),
        ("time_seconds", "s"),
        ("latency", ""),
        ("items", ""),
        ("status", ""),
        ("axes", ""),
    ],
)
def test_a_name_tells_its_unit_by_its_last_word_alone(name: str, unit: str) -> None:
    assert named_unit(name) == unit


def test_a_header_can_name_its_columns_as_the_option_does() -> None:
    assert implied(["due_us", "Response_ms", "op", "outcome"]) == {
        "due": "due_us",
        "response": "Response_ms",
        "ok": "outcome",
    }
    assert implied(["time", "count"]) == {}
