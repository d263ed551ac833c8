"""Output that is known and can't be judged, such as interval logs of something else than the times of operations:
why, and what to do instead. One row for each.
"""

import re
from collections.abc import Iterable

from plimsoll.analysis.logs.formats.reading import RunFile
from plimsoll.analysis.logs.hdr.hdrlog import HistogramLog
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
