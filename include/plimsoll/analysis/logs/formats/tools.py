"""The logs of operations that well-known load generators write: how each is recognised, and what its columns hold."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from plimsoll.analysis.logs.formats import ycsb_logs
from plimsoll.analysis.logs.formats.interval_logs import Meaning

RAW_HEADER = r"(?m)^[A-Za-z_-]+(?:, ?| )latency raw data: op, timestamp\(ms\), latency\(us\)"
_MOST_OF_HEY = 1_000_000
FAILED = "time of failures"


def transactions(data: bytes) -> tuple[str, str] | None:
    """JMeter writes a transaction beside its samples, or in their place (*Generate parent sample*)."""
    count, lines = data.count(b"Number of samples in transaction :"), data.count(b"\n") - data.startswith(b"timeStamp")
    if 0 < count < lines:
        refusal = f"holds {count:,} transactions beside {lines - count:,} other samples, which may be theirs"
        return refusal, "name the labels to judge: `--tags LABEL` (of an import, `tags: [LABEL]`)"
    return None


def first_million(data: bytes) -> tuple[str, str] | None:
    """Hey keeps the times of a million requests."""
    if data.count(b"\n") >= _MOST_OF_HEY:
        return f"is full: hey writes its first {_MOST_OF_HEY:,} requests alone", "run hey for a shorter time, or vegeta"
    return None


def remarks_on_ycsb(data: bytes) -> Iterator[str]:
    """Yield YCSB's pitfalls, by the names of its measurements."""
    headers = re.findall(RAW_HEADER.encode(), data)
    yield from ycsb_logs.remarks([re.split(rb"[, ]", header, maxsplit=1)[0].decode() for header in headers])


_K6_JUDGED, _K6_DROPPED = "http_req_duration", "dropped_iterations"
_TWICE = ("TOTAL", "READ_MODIFY_WRITE")
"""go-ycsb writes each answered operation as one of `TOTAL` too, and a read and its update as one."""


def _plain(name: str) -> Meaning:
    return "service time", name


@dataclass(frozen=True)
class Tool:
    """One load generator's log.

    `forms`: what a file of it contains, each with its columns as users write them behind `--columns`; those for
    `operation`, `ok` and `error` may be missing from a file. `writes_several_forms`: whether a run's operations can be
    in files of several; else these are of versions or settings. `begins`: how it begins, where its first row may come
    late. `file_names`: what names of its files contain, where other files look alike. `meaning`: what an operation's
    name measures, and which operation it is; a name of the measure *time of failures* stands for what was not answered.
    `counted`: the names that are read, where not all are. `has_counts`: rows of failures tell how many, in the column
    of latencies. `rows`: how the lines that are rows begin, where a file has others too. `unsent`: a line of what could
    not be sent, with its time in ms. `tells_failures`: whether what had no answer has a line. `refusal`: says what is
    not sound in a file's content, and `remarks_on` what is odd. `is_by_operation`: one operation follows another in it,
    each from the run's start to its end, so that a part of it lacks some. `mend`: what to do where no row is left.
    `answers`: the outcomes that are answers of an operation's name, where it has others than usual.
    """

    name: str
    title: str
    forms: Mapping[str, str]
    begins: str = ""
    file_names: str = ""
    meaning: Callable[[str], Meaning | None] = _plain
    counted: str = ""
    has_counts: bool = False
    rows: str = ""
    tells_failures: bool = True
    unsent: bytes = b""
    refusal: Callable[[bytes], tuple[str, str] | None] | None = None
    remarks_on: Callable[[bytes], Iterable[str]] | None = None
    remarks: tuple[str, ...] = ()
    is_by_operation: bool = False
    writes_several_forms: bool = False
    mend: str = "give the whole log"
    answers: Callable[[str], frozenset[str]] | None = None

    def fails(self, name: str) -> str:
        """Return the kind of failure that an operation's name stands for; empty for others."""
        meaning = self.meaning(name)
        if meaning is None or meaning[0] != FAILED:
            return ""
        return re.sub(rf"^{re.escape(meaning[1])}[-_]", "", name) if meaning[1] else name


_GATLING = "operation={},time={}:ms,end={}:ms,ok={}:OK,error={},delimiter=tab"


def _of_k6(name: str) -> Meaning | None:
    if name == _K6_DROPPED:
        return "time of failures", ""
    return "service time", "" if name == _K6_JUDGED else name


def _answers_of_k6(name: str) -> frozenset[str]:
    """Return the status of gRPC that stands for an answer: 0, OK. Other requests have statuses of HTTP."""
    return frozenset({"0"} if name.startswith("grpc_") else ())


def _of_ycsb(name: str) -> Meaning | None:
    meaning = ycsb_logs.meaning(name)
    is_second = meaning is not None and meaning[0] == "time of failures" and "Intended-" in name
    return ("other figures", name) if is_second else meaning  # the same failures stand there without `Intended-`


def _of_go_ycsb(name: str) -> Meaning | None:
    if name in _TWICE:
        return "other figures", name
    operation = name.removesuffix("_ERROR")
    return ("service time" if operation == name else "time of failures"), operation


TOOLS: tuple[Tool, ...] = (
    Tool(
        "jmeter",
        "JMeter results (JTL as CSV)",
        {
            r"^(?=[^\n]*\btimeStamp\b)(?=[^\n]*\belapsed\b)(?:[\w,;|\t]|\"[^\"\n]*\")+\r?\n": (
                "time=timeStamp:ms,latency=elapsed:ms,operation=label,ok=success|responseCode,error=responseCode"
            ),
            r"^\d{13},\d+,[^,\n]*,[^,\n]*,[^\n]*,(true|false),": "time=1:ms,latency=2:ms,operation=3,ok=8,error=4",
        },
        refusal=transactions,
        remarks=(
            "JMeter's time stamp is taken for the start, as its own jmeter.properties sets it "
            "(`sampleresult.timestamp.start=true`)",
        ),
    ),
    Tool(
        "hey",
        "hey results (CSV)",
        {
            r"^response-time,DNS\+dialup,[^\n]*,status-code,offset\r?\n": (
                "time=offset:s,latency=response-time:s,ok=status-code"
            )
        },
        tells_failures=False,
        refusal=first_million,
        remarks=("hey writes no line for a request without an answer: look for `Error distribution` in its summary",),
    ),
    Tool(
        "oha",
        "oha results (CSV)",
        {
            r"^request-start,DNS,DNS\+dialup,Response-delay,request-duration,bytes,status\r?\n": (
                "time=request-start:s,latency=request-duration:s,ok=status"
            )
        },
        tells_failures=False,
        remarks=(
            "oha writes no line for a request without an answer: look for `Error distribution` in its summary",
            "with `--latency-correction` oha's times count from the schedule, which its CSV does not say",
        ),
    ),
    Tool(
        "vegeta",
        "vegeta results",
        {
            r'^\{"attack":"[^\n]*"timestamp":"[^\n]*"latency":\d+': (
                "time=timestamp,latency=latency:ns,ok=code,error=error"
            ),
            r"^\d{19},\d{1,3},\d+,\d+,\d+,": "time=1:ns,latency=3:ns,ok=2,error=6",
        },
        writes_several_forms=True,
    ),
    Tool(
        "k6",
        "k6 results",
        {
            r"^metric_name,timestamp,metric_value,": (
                "end=timestamp,latency=metric_value:ms,operation=metric_name,ok=expected_response|status,"
                "error=error_code"
            ),
            # k6 declares each metric on a line of the type `Metric`, which has no value
            r'^\{"(metric|type|data)":[^\n]*"(type|metric)":"': (
                "only=type:Point,end=data.time,latency=data.value:ms,operation=metric,"
                "ok=data.tags.expected_response|data.tags.status,error=data.tags.error_code"
            ),
        },
        meaning=_of_k6,
        counted=rf"{_K6_JUDGED}|{_K6_DROPPED}",
        has_counts=True,
        answers=_answers_of_k6,
        writes_several_forms=True,
        remarks=(
            f"k6's {_K6_JUDGED} is judged, which has no time for a connection in it; a dropped iteration counts as one "
            "operation that was due and not sent",
        ),
        mend=f"name the trend to judge, `--tags grpc_req_duration` (of an import, `tags:`): there is no {_K6_JUDGED}",
    ),
    Tool(
        "gatling",
        "Gatling simulation.log",
        {
            # Older versions write scenario and user before the groups
            r"(?m)^REQUEST\t[^\t\n]*\t[^\t\n]+\t\d{13}\t\d{13}\t(OK|KO)\b": _GATLING.format(*range(3, 8)),
            r"(?m)^REQUEST\t\d+\t[^\t\n]*\t[^\t\n]+\t\d{13}\t\d{13}\t(OK|KO)\b": _GATLING.format(*range(4, 9)),
            r"(?m)^REQUEST\t[^\t\n]*\t\d+\t[^\t\n]*\t[^\t\n]+\t\d{13}\t\d{13}\t(OK|KO)\b": _GATLING.format(
                *range(5, 10)
            ),
        },
        begins=r"^(RUN|ASSERTION)\t",
        rows=r"REQUEST\t",
        unsent=rb"(?m)^ERROR\t[^\n]*\t(\d{13})\r?$",
    ),
    Tool(
        "ycsb-raw",
        "YCSB raw measurements",
        {RAW_HEADER: "operation=1,end=2:ms,latency=3:us,delimiter=comma"},
        # Of a console, whose raw measurements come after all status lines
        begins=r"[\s\S]*?Raw data measurement: will output to stdout",
        meaning=_of_ycsb,
        rows=r"[A-Z][A-Za-z_-]*,\d",
        remarks_on=remarks_on_ycsb,
        is_by_operation=True,
    ),
    Tool(
        "go-ycsb",
        "go-ycsb measurements (CSV)",
        {r"^operation,timestamp_us,latency_us\r?\n": "operation=operation,time=timestamp_us,latency=latency_us"},
        meaning=_of_go_ycsb,
        is_by_operation=True,
    ),
    Tool(
        "fio",
        "fio latency log",
        # Since fio 3 times are in ns; a fourth or fifth column is newer than that.
        {
            # A block size of 0 marks an average over a time (`log_avg_msec`), which is no operation
            rf"^\d+, \d+, [012], [1-9]\d*{more}\r?\n": f"end=1:ms,latency={latency},operation=3,delimiter=comma"
            for more, latency in ((r"(, \w+){1,3}", "2:ns"), ("", "2"))
        },
        file_names=r"_c?lat\b",
        meaning=lambda name: ("service time", {"0": "reads", "1": "writes", "2": "trims"}.get(name, name)),
        remarks=("fio ends a job at its first error: look for errors in its output",),
    ),
)
