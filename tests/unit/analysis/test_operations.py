import pytest
from tests.unit.analysis.logs import every_second, log

from plimsoll.analysis.hdrlog import read_log
from plimsoll.analysis.operations import default_unit, select_tracks
from plimsoll.domain.errors import LogError


def tagged(name: str, *tags: str):
    return read_log(log([one for place, tag in enumerate(tags, 1) for one in every_second([[place]], tag)]), name)


def plain(name: str, value: int = 1):
    return read_log(log(every_second([[value]])), name)


def operations(*logs, **options) -> list[str]:
    return [track.operation for track in select_tracks(logs, **options).tracks]


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("run.hdr-intended-mutations", "writes"),
        ("folder/run.hdr-intended-selects", "reads"),
        ("run.hdr-intended-selects.gz", "reads"),
        ("run.hdr-intended-deletions", "writes"),
        ("run.hdr-intended-other", "other"),
        ("reads.hlog", "reads"),
        ("Write.hdr.gz", "writes"),
        ("run.hdr", ""),
    ],
)
def test_a_file_name_tells_the_operation(name, operation):
    found = select_tracks([plain(name)])
    assert [track.operation for track in found.tracks] == [operation]
    assert found.notes == ()


def test_reads_and_writes_are_two_tracks_of_one_run():
    assert operations(plain("r.hdr-intended-mutations"), plain("r.hdr-intended-selects", 2)) == ["writes", "reads"]


def test_of_cassandra_stress_the_response_times_are_judged():
    found = select_tracks([tagged("c.hdr", "insert-st", "insert-rt", "insert-wt", "head-st", "head-rt", "head-wt")])
    assert [(track.name, track.operation) for track in found.tracks] == [
        ("c.hdr (insert-rt)", "writes"),
        ("c.hdr (head-rt)", "head"),
    ]
    assert found.notes == ("response time is judged; the logs' service time and wait time left aside",)


def test_further_names_can_be_declared_reads_or_writes():
    assert operations(tagged("c.hdr", "head-rt", "add-rt"), kinds={"head": "reads"}) == ["reads", "add"]
    assert operations(plain("run1.hlog"), kinds={"run1": "reads"}) == ["reads"]


def test_of_latte_the_requests_are_judged_and_the_missing_correction_is_said():
    found = select_tracks([tagged("l.hlog", "cycles", "requests")])
    assert [track.name for track in found.tracks] == ["l.hlog (requests)"]
    assert any("coordinated omission" in note for note in found.notes)


def test_service_times_alone_are_judged_with_a_warning():
    found = select_tracks([plain("run.hdr-mutations")])
    assert [track.operation for track in found.tracks] == ["writes"]
    assert found.notes == (
        "judged on service time: a stall hides the operations that were due in it (coordinated omission)",
    )


@pytest.mark.parametrize("other", ["run.hdr-mutations", "run.hdr-selects"])
def test_service_times_beside_response_times_are_refused(other):
    with pytest.raises(LogError, match=rf"{other}: holds service times .*run.hdr-intended-mutations response times"):
        select_tracks([plain("run.hdr-intended-mutations"), plain(other, 2)])


def test_a_log_of_failures_is_left_aside_and_never_judged():
    errors = tagged("run.hdr.errors", "timeout", "unavailable")
    found = select_tracks([plain("run.hdr-intended-selects"), errors])
    assert [track.operation for track in found.tracks] == ["reads"]
    assert found.notes == ("response time is judged; the logs' time of failures left aside",)
    with pytest.raises(LogError, match="neither response nor service times"):
        select_tracks([errors])


def test_one_log_given_twice_is_refused():
    with pytest.raises(LogError, match=r"b\.hlog: holds the same records as a\.hlog"):
        select_tracks([plain("a.hlog"), plain("b.hlog")])


@pytest.mark.parametrize(
    ("tags", "unit"),
    [(("insert-rt",), "ns"), (("requests", "cycles"), "ns"), (("",), "us"), (("mutations",), "us")],
)
def test_the_unit_is_what_the_load_generator_is_known_to_write(tags, unit):
    assert default_unit([tagged("x", *tags)]) == unit
