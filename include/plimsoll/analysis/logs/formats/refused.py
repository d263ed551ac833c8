"""Output that is known and can't be judged: percentile tables of a whole run, whose figures are shown (wrk2
`--latency`, cassandra-easy-stress `--hdr`, HdrHistogram's own), and what is refused: why, and what to do instead.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from plimsoll.analysis.logs.formats.reading import Reading, ReadOptions, RunFile, WholeRun
from plimsoll.analysis.logs.formats.units import FoundUnit, unit_of
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
from plimsoll.analysis.logs.hdr.histograms import UNITS_PER_MS, Unit
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION, KINDS
from plimsoll.domain.text.errors import LogError

_LOG = "a log of operations, which any program can write (`--columns`, docs/reference/judging.md)"

NOT_MEMTIER = (
    "load it by a program that writes every operation, such as go-ycsb's `redis` with `-p measurementtype=csv`, or "
    "histograms over time"
)

_PROGRAMS = {
    r"\[Logged with jHiccup": (
        "is jHiccup's: how long a JVM or its machine stood still, and no operation of a database",
        "give the logs of the load generator that ran beside it",
    ),
    r"command HDR latency histogram results\]": (
        "is memtier_benchmark's: one histogram of the whole run, which hides the intervals that missed",
        "memtier tells times by the second in `--json-out-file` alone, as percentiles that are not read here: "
        + NOT_MEMTIER,
    ),
}
"""A comment of a log → why it can't be judged, and what to do instead."""

_REFUSED = {
    r"Writes\s+Reads\s+Deletes\s+Errors": (
        "is the console of tlp-stress or easy-stress, whose percentiles fade the past out slowly: they are of no "
        "interval",
        "run Azul's tlp-stress with `--hdr FILE`, or cassandra-stress with `-log hdrfile=FILE`: these write intervals",
    ),
    r"(?m)^[A-Z_]+\s+- Takes\(s\): [\d.]+, Count: ": (
        "is go-ycsb's console, whose percentiles are of the run so far: they hide intervals that missed",
        "run go-ycsb with `-p measurementtype=csv -p measurement.output_file=FILE`, and judge that file",
    ),
    r"(?m)^Vuser \d+:|^>>>>> PROC: |HammerDB": (
        "is HammerDB's output, which has sums and percentiles of the whole run: they hide intervals that missed",
        f"log each transaction with its time as {_LOG}; or measure by pgbench with `--log`",
    ),
    r"(?m)^(?>.*?PerformanceEvaluation: )(?>.*?\blatency\b).*\b99th=": (
        "is hbase pe's output, whose percentiles are of the run so far: they hide intervals that missed",
        "measure HBase by YCSB with `-p measurementtype=hdrhistogram -s`, or by Plimsoll's own load generator",
    ),
    r"^Timestamp,User Count,Type,Name,Requests/s,Failures/s,": (
        "is Locust's history of statistics: percentiles of windows that overlap, of times rounded to two digits",
        f"write {_LOG}: a listener of Locust's event `request` writes it (docs/guides/importing.md)",
    ),
    r"^Type,Name,Request Count,Failure Count,": (
        "is Locust's statistics of the whole run, which hide intervals that missed",
        f"write {_LOG}: a listener of Locust's event `request` writes it (docs/guides/importing.md)",
    ),
    r"(?m)^ ?\d+ sec: \d+ operations; [\d.]+ current ops/sec; ": (
        "is the console of an old YCSB, which has averages alone",
        "run YCSB with `-p measurementtype=hdrhistogram -s`, or with `-p measurementtype=raw`",
    ),
    r'^\s*\{\s*"summary":\s*\{\s*"successRate"': (
        "is oha's report, which has percentiles of the whole run: they hide intervals that missed",
        "run oha with `--output-format csv`",
    ),
    r'^\s*\{(?=[\s\S]*"publishLatency99pct")(?=[\s\S]*"publishRate")': (
        "is a result of the OpenMessaging benchmark, whose percentiles have no counts of their intervals",
        f"write {_LOG}",
    ),
    r'^"test","rps"(,"avg_latency_ms")?|^====== .* ======\s|requests completed in [\d.]+ seconds': (
        "is redis-benchmark's output, which has percentiles of the whole run: they hide intervals that missed",
        f"measure by YCSB with `-p measurementtype=hdrhistogram -s`, or write {_LOG}",
    ),
    r"^\s*Value\(ms\)\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)": (
        "is a plot of percentiles of the whole run: they hide intervals that missed",
        "of vegeta, judge its results: `vegeta encode results.bin > results.json`",
    ),
    r"^Requests\s+\[total, rate(, throughput)?\]|^\{\"latencies\":\{\"total\":": (
        "is vegeta's report of the whole run, which hides intervals that missed",
        "judge its results: `vegeta encode results.bin > results.json`",
    ),
    r"^[^\n{]{0,20}\x06Result\x01|^[\s\S]{0,8}Result\x01\xff|^[\s\S]{0,12}\x06Result": (
        "holds vegeta's results in Go's own encoding",
        "encode them: `vegeta encode results.bin > results.json`",
    ),
    r"^\s*(<\?xml[^>]*>\s*)?<testResults\b": (
        "holds JMeter's results as XML",
        "run JMeter with `-Jjmeter.save.saveservice.output_format=csv`, which is its default",
    ),
    r"^\x00\x00\x00\x00[\x05-\x0c]\d+\.\d+": (
        "is a simulation.log of Gatling 3.12 or later, which is binary and of a form of its own",
        f"take Gatling 3.11, whose simulation.log is text; or write {_LOG}",
    ),
    r"^response-time,DNS\+dialup,DNS,Request-write,Response-delay,Response-read\r?\n": (
        "is of a hey before 0.1.3, which does not say when a request was sent",
        "take a newer hey; its CSV has the column `offset`",
    ),
    r"(?m)^[ \t]*Summary:\s+(Success rate|Total):": (
        "is the summary of hey or oha, which has percentiles of the whole run: they hide intervals that missed",
        "run hey with `-o csv`, oha with `--output-format csv`",
    ),
    r"(?m)^[ \t]+http_req_duration\.*: avg=|\A\s*\{\s*\"(root_group|metrics)\":\s*\{[\s\S]*\"http_req": (
        "is k6's summary of the whole run, which hides intervals that missed",
        "run k6 with `--out csv=FILE` or `--out json=FILE`",
    ),
    r"^\d+, \d+, (\d+, )?[012], 0(, \w+)*\r?\n": (
        "is a log of fio with averages over a time (`log_avg_msec`)",
        "run fio with `write_lat_log=FILE` and without `log_avg_msec`",
    ),
    # Behind the averages of fio, whose lines this form matches, too
    r"^\d+, -?\d+, [012], \d+(, \w+)*\r?\n": (
        "is a log of fio, and its name does not say that it is one of latencies (`_clat` or `_lat`)",
        "give the file `…_clat.1.log`, or say `--format fio`",
    ),
    r"(?m)^(ALL STATS|Type\s+Ops/sec\s+Hits/sec)": (
        "is memtier_benchmark's summary, which has percentiles of the whole run: they hide intervals that missed",
        NOT_MEMTIER,
    ),
    r'^\s*\{\s*"configuration"\s*:\s*\{[\s\S]*?"run information"\s*:': (
        "is memtier_benchmark's JSON: its percentiles by the second are not read, and its `.hgrm` hides them",
        NOT_MEMTIER,
    ),
    r"(?m)^[ \t]*Thread Stats\s+Avg\s+Stdev": (
        "is wrk's summary of the whole run, which hides intervals that missed",
        "measure by vegeta or k6, whose results have every request",
    ),
    r"(?m)^(progress: [\d.]+ s, [\d.]+ tps|tps = [\d.]+ )": (
        "is pgbench's console, which has averages alone",
        "run pgbench with `--log`, and give its log files",
    ),
}
"""The same of what the first lines of a file hold."""


def refuse_known(file: RunFile) -> None:
    """Raise LogError, with what to do instead, on output that is known and can't be judged."""
    for begin, (why, instead) in _REFUSED.items():
        if re.search(begin, file.head):
            raise LogError(why, where=file.name, mend=instead)


def refuse_no_operations(logs: Iterable[HistogramLog]) -> None:
    """Raise LogError on a log by which no service level can be judged, according to its comments."""
    for log in logs:
        for program, (what, mend) in _PROGRAMS.items():
            if any(re.search(program, comment) for comment in log.comments):
                raise LogError(what, where=log.name, mend=mend)


_TABLE = re.compile(r"^[ \t]*Value\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)", re.MULTILINE)
_ROW = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?)\s+([01]\.[0-9]+)\s+([0-9]+)(\s+[0-9.]+|\s+inf)?\s*$")
_TOTAL = re.compile(r"#\[Max\s*=\s*([0-9]+(?:\.[0-9]+)?), Total count\s*=\s*([0-9]+)")
_SHOWN = (50.0, 90.0, 99.0, 99.9)
_WRK2 = "(HdrHistogram - Recorded Latency)"
_WRK2_TOTAL = re.compile(r"^[ \t]*\d+ requests in .* read$", re.MULTILINE)
_WRK2_SOCKET = re.compile(r"^[ \t]*Socket errors: (.*)$", re.MULTILINE)
_WRK2_REFUSED = re.compile(r"^[ \t]*Non-2xx or 3xx responses: (\d+)", re.MULTILINE)
_UNCORRECTED = "(HdrHistogram - Uncorrected Latency"


class PercentileText:
    """Percentiles of a whole run. They hide intervals that missed, so no service level can be judged by them."""

    name = "percentiles"
    title = "percentile table of a whole run"

    def recognises(self, file: RunFile) -> bool:
        return bool(_TABLE.search(file.head))

    def read(self, files: Sequence[RunFile], options: ReadOptions) -> Reading:
        """Read one entry per file: its first table, which in wrk2's output is the corrected one."""
        assumed = FoundUnit("ms", "assumed, since such tables mostly are in ms")
        taken, kinds = unit_of(options.unit, None, files[0].name) or assumed, {**KINDS, **options.kinds}
        return Reading(
            title=self.title,
            unit=taken,
            whole_run=tuple(_whole_run(file, taken.unit, kinds) for file in files),
            obstacles=("percentiles of the whole run only, warm-up included: they hide intervals that missed",),
            notes=tuple(note for file in files for note in _remarks(file, taken.unit, is_assumed=taken == assumed)),
            errors=_errors(files) if all(_WRK2_TOTAL.search(file.text) for file in files) else None,
        )


def _errors(files: Sequence[RunFile]) -> dict[str, int]:
    """Return the failures of the whole run, which wrk2 tells where there are any."""
    errors: dict[str, int] = {}
    for file in files:
        socket = _WRK2_SOCKET.search(file.text)
        pairs = re.findall(r"(\w+) (\d+)", socket[1]) if socket else []
        refused = _WRK2_REFUSED.search(file.text)
        for kind, count in [*pairs, *([("non-2xx or 3xx responses", refused[1])] if refused else [])]:
            if int(count):
                errors[kind] = errors.get(kind, 0) + int(count)
    return errors


def _whole_run(file: RunFile, unit: Unit, kinds: dict[str, str]) -> WholeRun:
    # wrk2 prints the corrected times first; other tools print one table.
    head = _TABLE.search(file.text)
    table = file.text[head.end() if head else 0 :]
    rows = [(float(row[1]), int(row[3])) for row in map(_ROW.match, table.splitlines()) if row]
    total = _TOTAL.search(table)
    if total is None:
        what = "the table has no last lines with its maximum and total count"
        raise LogError(what, where=file.name, mend="give the tool's whole output")
    count, highest = int(total[2]), float(total[1])
    words = re.split(r"[^a-z]+", file.name.rpartition("/")[2].lower())
    operation = next((kinds[word] for word in words if word in kinds), "")
    if not count:
        return WholeRun(operation, 0)
    values = {100.0: highest}
    for percentile in _SHOWN:
        # The first row at or above its rank: never too low, at most one row too high
        rank = ceil(percentile / 100 * count)
        values[percentile] = next((value for value, reached in rows if reached >= rank), highest)
    scaled = {percentile: values[percentile] / UNITS_PER_MS[unit] for percentile in (*_SHOWN, 100.0)}
    return WholeRun(operation, count, scaled)


def _remarks(file: RunFile, unit: Unit, *, is_assumed: bool) -> Iterator[str]:
    yield f"{file.name}: a percentile is given as the table's next value, so it is at most one step too high"
    if _WRK2 in file.text:
        yield f"{file.name}: wrk2's times count from the schedule (its corrected table is taken)"
    elif _UNCORRECTED in file.text:
        yield f"{file.name}: uncorrected times: a stall hides the operations that were due in it {COORDINATED_OMISSION}"
    else:
        yield f"{file.name}: does not say whether times count from the schedule or from the send {COORDINATED_OMISSION}"
    if is_assumed and _WRK2 not in file.text:
        yield f"{file.name}: does not say its unit; {unit} is assumed (`--unit`)"
