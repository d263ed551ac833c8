"""The same load by each load generator on one local cluster, with a planted stall: what does each one report of it?

    .venv/bin/python -m benchmarks.generators [--rate 500] [--seconds 50] [--warmup 20] [--stall 2] [--nodes 3]
        [--generators plimsoll-stress,cassandra-stress,latte]

The workload is `StandardRow` with half reads, half writes and uniform keys. The generators run one after the other, on
the same nodes and rows. In the middle of the judged time SIGSTOP stops all nodes for `--stall` seconds. Every run is
judged as cells are, in intervals of 10 s. latte is included if its binary is on this machine.
"""

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import psutil

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.adapters.providers.local.sweep import tagged_processes
from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.service_level_evaluation import judge_logs
from plimsoll.analysis.logs.hdr.histogram_layout import UNITS_PER_MS, reported_values
from plimsoll.bootstrap import full_toolkit
from plimsoll.domain.cluster import Cluster, ClusterId, ClusterRequest
from plimsoll.domain.definition import Definition
from plimsoll.domain.service_level import ALL_OPERATIONS
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadGenerator, LoadRequest
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

_LIFETIME = timedelta(minutes=30)
_LOOK_S = 0.2
_LATE_MS = 100


class _NothingSeenError(Exception):
    """The reason why there is no row for a generator."""


@dataclass(frozen=True)
class Seen:
    """The result of one generator. `achieved` is the share of the rate, `late` the number of operations ≥ 100 ms."""

    generator: str
    achieved: float
    late: int
    values_ms: tuple[float, ...]
    """p50, p90, p99, p99.9 and maximum of the interval with the stall, ms."""

    def line(self) -> str:
        """The row for the table in docs/reference/load-generators.md."""
        p50, p90, p99, p999, most = (f"{value:,.1f}" if value < 100 else f"{value:,.0f}" for value in self.values_ms)
        return f"| {self.generator} | {self.achieved:.1%} | {p50} | {p90} | {p99} | {p999} | {most} | {self.late:,} |"


def main() -> None:
    """Print the table, each row as soon as it is known. Other messages go to standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=500, help="ops/s")
    parser.add_argument("--seconds", type=int, default=50, help="length of each timed run, warm-up included")
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--stall", type=float, default=2.0, help="seconds for which all nodes stand still")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--generators", default="plimsoll-stress,cassandra-stress,latte")
    options = parser.parse_args()
    toolkit = full_toolkit(Settings())
    with tempfile.TemporaryDirectory(prefix="plimsoll-generators-") as work:
        print("| generator | rate achieved | p50 | p90 | p99 | p99.9 | longest | over 100 ms |")
        print("|---|---|---|---|---|---|---|---|")
        for seen in _all(toolkit, Path(work), options):
            print(seen.line(), flush=True)


def _all(toolkit: Toolkit, work: Path, options: argparse.Namespace) -> Iterator[Seen]:
    provider, names = LocalProvider(work, SystemClock()), options.generators.split(",")
    definition = _definition(names[0], options)
    with _cluster(toolkit, provider, definition) as cluster:
        for name in names:
            load = provider.host(cluster, cluster.load_host, name)
            try:
                yield _seen(toolkit.load_generators[name], load, cluster, options, work)
            except _NothingSeenError as error:
                print(f"{name}: {error}", file=sys.stderr)


def _seen(generator: LoadGenerator, load: Host, cluster: Cluster, options: argparse.Namespace, work: Path) -> Seen:
    """Run the generator once with the stall. Raises _NothingSeenError if it can't run, fails, or its run is invalid."""
    if unready := generator.unready(load):
        raise _NothingSeenError(unready)
    own, addresses = _definition(generator.name, options), [node.address for node in cluster.nodes]
    generator.start(load, LoadRequest("load", own, options.rate, addresses, _LIFETIME))
    _stall_in_the_middle(generator, load, own, options.stall, work)
    return _judged(generator, load, own, options.rate)


def _definition(generator: str, options: argparse.Namespace) -> Definition:
    flags = ["-XX:TieredStopAtLevel=1"]
    return Definition.model_validate(
        {
            "name": "generators",
            "title": "Load generators side by side",
            "system": {"version": "4.0.1", "nodes": options.nodes},
            "variants": [
                {"id": "g1", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M", "flags": flags}}
            ],
            "loads": [f"{options.rate}/s"],
            "workload": {
                **{"name": "StandardRow", "rows": 20_000, "write": 1, "read": 1, "keys": "uniform"},
                "replication_factor": min(3, options.nodes),
            },
            "load_generator": {"name": generator, "threads": 2, "concurrency": 25, "heap": "256M"},
            "timing": {"duration": f"{options.seconds}s", "warmup": f"{options.warmup}s"},
        }
    )


@contextmanager
def _cluster(toolkit: Toolkit, provider: LocalProvider, definition: Definition) -> Iterator[Cluster]:
    cluster_id = ClusterId.kept("generators", "", 1)
    expires_at = SystemClock().now() + _LIFETIME
    request = ClusterRequest(id=cluster_id, owner="benchmark", nodes=definition.system.nodes, expires_at=expires_at)
    cluster = provider.ensure(request)
    try:
        nodes = [provider.host(cluster, info) for info in cluster.nodes]
        load = provider.host(cluster, cluster.load_host)
        toolkit.databases["cassandra"].deploy(definition, definition.variants[0], nodes, load, _LIFETIME)
        yield cluster
    finally:
        provider.destroy(cluster_id)


def _stall_in_the_middle(
    generator: LoadGenerator, load: Host, definition: Definition, stall_s: float, work: Path
) -> None:
    """Wait for the load's end, and stop the nodes once, in the middle of the judged time."""
    planted, half_s = False, definition.timing.judged.total_seconds() / 2
    while (status := generator.status(load, "load")).state == "running":
        is_due = status.phase == "load" and (status.seconds_left or 0) <= half_s
        if is_due and not planted:
            planted = True
            _stall(work, stall_s)
        time.sleep(_LOOK_S)
    if status.state != "complete":
        raise _NothingSeenError(status.reason)


def _stall(work: Path, seconds: float) -> None:
    nodes = []
    for one in tagged_processes(work):
        with suppress(psutil.NoSuchProcess):
            if "org.apache.cassandra.service.CassandraDaemon" in one.process.cmdline():
                nodes.append(one.process)
    for node in nodes:
        node.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    for node in nodes:
        node.send_signal(signal.SIGCONT)
    print(f"{len(nodes)} nodes stood still for {seconds:g} s", file=sys.stderr)


def _judged(generator: LoadGenerator, load: Host, definition: Definition, rate: int) -> Seen:
    files = {path.name: Path(path) for path in generator.files(load)}
    texts = {name: files[name].read_text() for name in generator.summary_files if name in files}
    logs = generator.response_time_logs(files)
    summary = generator.summary(texts)
    run = Run(
        warmup=definition.timing.warmup,
        duration=definition.timing.duration,
        attempted_ops_s=rate,
        started_at=summary.started_at,
    )
    contents = {name: files[name].read_bytes() for name in logs.values()}
    judgement = judge_logs(contents, run, definition.service_levels, kinds={name: name for name in logs})
    if not judgement.valid:
        raise _NothingSeenError("; ".join(judgement.reasons))
    return _worst(generator.name, judgement, rate)


def _worst(name: str, judgement: Judgement, rate: int) -> Seen:
    """The figures of the interval with the longest operation, which has the stall. Late operations count in all."""
    row = max(judgement.intervals.select("judged"), key=lambda one: one.max_ms or 0.0)
    late_from = int(np.searchsorted(reported_values(), _LATE_MS * UNITS_PER_MS[judgement.unit]))
    return Seen(
        generator=name,
        achieved=(judgement.achieved_ops_s or 0.0) / rate,
        late=int(judgement.counts[ALL_OPERATIONS][late_from:].sum()),
        values_ms=tuple(value or 0.0 for value in (row.p50_ms, row.p90_ms, row.p99_ms, row.p99_9_ms, row.max_ms)),
    )


if __name__ == "__main__":
    main()
