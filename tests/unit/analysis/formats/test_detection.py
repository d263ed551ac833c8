import gzip
from functools import partial
from typing import Any

import pytest
from tests.support.campaigns.interval_logs import CASSANDRA_STRESS, LATTE, every_second, log

from plimsoll.analysis.logs.formats import FORMATS, ReadOptions, RunFile, detection, read_run
from plimsoll.analysis.logs.unpacking import require_bounded
from plimsoll.domain.text.errors import LogError

HDR = log(every_second([[1], [2]]))


def test_every_format_has_a_name_of_its_own() -> None:
    names = [one.name for one in FORMATS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["run.txt", "tlp-stress.csv", "latte.json"])
def test_content_tells_the_format_whatever_the_name(name: str) -> None:
    assert read_run([RunFile(name, HDR)], ReadOptions()).title == "HdrHistogram interval log"


def test_a_gz_is_looked_into() -> None:
    assert read_run([RunFile("x", gzip.compress(HDR))], ReadOptions()).title == "HdrHistogram interval log"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"count,p99\n1,2\n", r"begins with 'count,p99'"),
        (b'{"metrics": []}', r"begins with '\{\"metrics\": \[\]\}'"),
        (b"\n\n  Running 30s test @ http://127.0.0.1:80/" + b"x" * 90, "begins with 'Running 30s test .*…'"),
    ],
)
def test_a_file_of_no_known_format_is_refused_with_what_it_begins_with(content: Any, found: str) -> None:
    with pytest.raises(LogError, match=rf"x: is of no format that is known here: it {found}(.|\n)*YCSB console output"):
        read_run([RunFile("x", content)], ReadOptions())


def test_an_empty_first_member_of_a_gz_hides_nothing() -> None:
    csv = b"due_s,latency_ms\n0,1\n"
    found = read_run([RunFile("x.gz", gzip.compress(b"") + gzip.compress(csv))], ReadOptions())
    assert found.title == "log of operations"


def test_tags_are_refused_where_a_format_has_none() -> None:
    status = "".join(STATUS.format(second, second, 5, 5) for second in range(0, 50, 10)).encode()
    with pytest.raises(LogError, match="YCSB console output: has no tags") as refused:
        read_run([RunFile("x", status)], ReadOptions(tags=("READ",)))
    assert "leave `--tags` out" in refused.value.mend


@pytest.mark.parametrize(
    "text", ["\n" * 60_000, " " * 60_000, "\t\n" * 30_000, "Summary:" + "\n" * 60_000, "= \n" * 20_000]
)
def test_a_long_file_of_nothing_is_soon_refused(text: str) -> None:
    with pytest.raises(LogError, match="is of no format"):
        read_run([RunFile("x", f"{text}x".encode())], ReadOptions())


def test_a_format_can_be_forced() -> None:
    with pytest.raises(LogError, match=r"x: is not whole JSON"):
        read_run([RunFile("x", HDR)], ReadOptions(), "latte")
    tagged = log(every_second([[1], [2]], "requests", per_ms=10**6), comment=LATTE)
    assert read_run([RunFile("x", tagged)], ReadOptions()).unit.unit == "ns"
    assert read_run([RunFile("x", tagged)], ReadOptions(unit="us"), "hdr").unit.unit == "us"


def test_two_formats_that_both_hold_times_are_refused() -> None:
    other = RunFile("c.hdr", log(every_second([[1]], "insert-rt", per_ms=10**6), comment=CASSANDRA_STRESS))
    with pytest.raises(
        LogError, match=r"several formats that hold times: HdrHistogram .* and cassandra-stress HDR log"
    ):
        read_run([RunFile("x", HDR), other], ReadOptions())


def test_files_that_hold_too_much_together_are_refused_although_each_alone_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detection, "require_bounded", partial(require_bounded, most=len(HDR)))
    assert read_run([RunFile("x", HDR)], ReadOptions())
    with pytest.raises(LogError, match="y: with this file, those of its run hold more than 0 MiB together"):
        read_run([RunFile("x", HDR), RunFile("y", gzip.compress(HDR))], ReadOptions())


def test_a_gz_that_was_cut_short_is_noted_whatever_it_holds() -> None:
    statuses = "".join(STATUS.format(second, second, 5, 5) for second in range(0, 50, 10)).encode()
    for text in (statuses, HDR):
        packed = gzip.compress(text, 0)[:-8]  # all of the text, without the sums that end it
        notes = read_run([RunFile("x.gz", packed)], ReadOptions()).notes
        assert [note for note in notes if "the gz" in note] == [
            "x.gz: the gz ends before its end; what could be read of it counts"
        ]


DIGITS = "9" * 5000
STATUS = "2024-05-01 10:00:{:02d}:123 {} sec: 5 operations; 1 current ops/sec; [READ: Count={}, Max={}, Avg=1, 99=1]\n"
TABLE = "Value Percentile TotalCount 1/(1-Percentile)\n1.0 1.000000 {} inf\n#[Max = 9.0, Total count = 9]\n"
REPORT = '{{"conf": {{"sampling_interval": 1, "rate": {}}}, "result": {{"log": [{}], "start_time": "2024-01-01"}}}}'


@pytest.mark.parametrize(
    "text",
    [
        "".join(STATUS.format(second, second, "9" * 30, 5) for second in range(0, 50, 10)),
        "".join(STATUS.format(second, second, "9" * 400, 5) for second in range(0, 50, 10)),
        "".join(STATUS.format(second, second, 9, "9" * 500) for second in range(0, 50, 10)),
        f"[OVERALL], RunTime(ms), 9\n[READ], Operations, {'9' * 500}\n",
        TABLE.format(DIGITS),
        REPORT.format(DIGITS, ""),
        REPORT.format(1, ""),
        REPORT.format(1, "[" * 100_000 + "]" * 100_000),
        ",,Mutations,Reads,Deletes,Errors,\nTimestamp,Elapsed Time,Count\n2024-01-01,0,1\n2024-01-02Z,0,1\n",
        "#plimsoll.stress\n,,Mutations,Reads,Deletes,Errors,\nTimestamp,Elapsed Time,Count,Latency (p99)\n"
        "2024-01-01T00:00:00,0,1,nan\n2024-01-01T00:00:03,0,2,nan\n",
    ],
)
def test_figures_that_no_run_can_have_are_refused(text: str) -> None:
    with pytest.raises(LogError):
        read_run([RunFile("hostile", text.encode())], ReadOptions())
