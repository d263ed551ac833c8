"""Output that is known and can't be judged says what to do instead."""

import pytest

from plimsoll.analysis.logs.formats import ReadOptions, RunFile, read_run
from plimsoll.domain.text.errors import LogError

EASY = "     Writes        Reads     Deletes    Errors\n  Count  Latency (p99)  1min (req/s) |   Count\n"
GO_YCSB = "READ   - Takes(s): 10.0, Count: 49980, OPS: 4998.1, Avg(us): 312, 99th(us): 980\n"
HAMMER = "Vuser 1:TEST RESULT : System achieved 45231 NOPM from 104023 PostgreSQL TPM\n"
HAMMER_TIMES = ">>>>> PROC: NEWORD\nCALLS: 200213\tMIN: 0.612ms\tAVG: 3.215ms\n"
HBASE = "2025-11-01 10:00:00,123 INFO  [T-1] hbase.PerformanceEvaluation: 0/1/2, latency mean=1.20, 99th=4,000.00\n"
LOCUST = "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%\n1761991201,50,,Aggregated,498.2,0.0,3,4\n"
OLD_YCSB = " 10 sec: 12345 operations; 1234.5 current ops/sec; [READ AverageLatency(us)=1234.1] \n"
OHA = '{"summary":{"successRate":1.0,"total":10.0},"latencyPercentiles":{"p50":0.003}}'
OMB = '{"workload":"1 topic","publishRate":[999.8],"publishLatency99pct":[4.1],"beginTime":"2025-11-01T10:00:00"}'
REDIS = '"test","rps","avg_latency_ms","min_latency_ms"\n"SET","98000.00","0.321","0.104"\n'
HDRPLOT = "Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n0.076715   0.000000    0           1.000000\n"
GOB = b"\xff\x96\x7f\x03\x01\x01\x06Result\x01\xff\x80\x00\x01\x0c\x01\x06Attack\x01\x0c\x00"
GATLING = b"\x00\x00\x00\x00\x063.13.1\x00\x00\x00\x09basic.Sim"
JTL = '<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n<sample t="14" ts="1761991200012"/>\n'
OLD_HEY = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read\n0.1,0,0,0,0,0\n"
FIO_AVERAGES = "500, 14178, 1, 0, 0\n500, 975407, 0, 0, 0\n"
FIO_RATES = "500, 102400, 1, 4096, 0\n"
K6 = "    http_req_duration..............: avg=4.2ms min=1ms med=3ms max=9ms p(90)=4ms p(95)=5ms\n"
PGBENCH = "progress: 5.0 s, 200.1 tps, lat 4.020 ms stddev 0.301, 0 failed\n"
MEMTIER = (
    '{\n\t"configuration":\n\t{\n\t\t"server": "localhost"\n\t}\n\t,"run information":\n\t{\n\t\t"Threads": 4\n\t}\n}\n'
)
WRK = "Running 30s test @ http://127.0.0.1:80/\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"


@pytest.mark.parametrize(
    ("content", "why", "instead"),
    [
        (EASY, "fade the past out", "log hdrfile=FILE"),
        (GO_YCSB, "of the run so far", "measurementtype=csv"),
        (HAMMER, "HammerDB", "--columns"),
        (HAMMER_TIMES, "HammerDB", "--columns"),
        (HBASE, "of the run so far", "hdrhistogram -s"),
        (LOCUST, "windows that overlap", "docs/guides/importing.md"),
        (OLD_YCSB, "averages alone", "hdrhistogram -s"),
        (OHA, "whole run", "--output-format csv"),
        (OMB, "no counts", "--columns"),
        (REDIS, "whole run", "--columns"),
        (HDRPLOT, "whole run", "vegeta encode"),
        (GOB, "Go's own encoding", "vegeta encode"),
        (GATLING, "binary", "Gatling 3.11"),
        (JTL, "as XML", "output_format=csv"),
        (OLD_HEY, "does not say when", "newer hey"),
        (FIO_AVERAGES, "averages over a time", "without `log_avg_msec`"),
        (FIO_RATES, "does not say that it is one of latencies", "--format fio"),
        (K6, "whole run", "--out csv"),
        (PGBENCH, "averages alone", "--log"),
        (MEMTIER, "by the second are not read", "measurementtype=csv"),
        (WRK, "whole run", "vegeta or k6"),
    ],
)
def test_a_known_form_that_is_refused_says_why_and_what_to_do_instead(
    content: str | bytes, why: str, instead: str
) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    with pytest.raises(LogError) as refused:
        read_run([RunFile("out.txt", data)], ReadOptions())
    assert why in refused.value.what
    assert instead in refused.value.mend


def test_an_unknown_form_is_told_of_the_plain_door() -> None:
    with pytest.raises(LogError, match="is of no format that is known here") as refused:
        read_run([RunFile("x", b"once upon a time\n")], ReadOptions())
    assert "--columns time=ts,latency=elapsed_ms,ok=success" in refused.value.mend
