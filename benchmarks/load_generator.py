"""The load generator's cost and accuracy, on one real Cassandra node of this machine.

    .venv/bin/python -m benchmarks.load_generator [--rate 3000] [--seconds 60] [--rounds 3] [--accuracy-seconds 20]
        [--five-operations] [--jdk openjdk-11.0.13]

Cost is the CPU time per operation, user and system, with the start of the process. It is compared with a plain loop on
the same driver that records nothing (`java/PlainLoop.java`). Both run at the same time with the same JVM flags, so that
other work on the machine affects both. With `--five-operations` the generator sends the same statements as a workload
of five operations with scrambled Zipfian keys. In both programs the keys of reads are never written.

Accuracy is measured at 80 % of the generator's limit. The limit is the rate that it achieves when it is asked for far
too much; it is the limit of the node too, because both share the machine. The result is the achieved share of the
attempted rate.
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

from tests.support.campaigns.small_definition import SMALL
from tests.support.resolved import only_part

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.maven import jar_folder, locked_set
from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.bootstrap import load_definition
from plimsoll.domain.campaign.resolve import variant_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.ports.artefacts import LOAD_JDK, OWN_JDK
from plimsoll.settings import Settings

_LIFETIME = timedelta(hours=1)
_SOURCE = Path(__file__).parent / "java" / "PlainLoop.java"
_JVM = "-Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_FAR_TOO_MUCH = 200_000
_ZIPFIAN = {"distribution": "zipfian", "max": "100M", "scrambled": True}
_WRITE = {
    "statement": "INSERT INTO sensor_data (sensor_id, timestamp, data) VALUES (:key, :time, :text)",
    "bind": {
        "key": {**_ZIPFIAN, "prefix": "001.0."},
        "time": {"distribution": "now"},
        "text": {"distribution": "uniform", "min": 100, "max": 199, "as": "letters"},
    },
}
_READ = {
    "statement": "SELECT * FROM sensor_data WHERE sensor_id = :key LIMIT 500",
    "bind": {"key": {**_ZIPFIAN, "prefix": "000.0."}},
}
_FIVE = {
    "operations": [
        {"name": "writes", "share": 0.4, **_WRITE},
        {"name": "more-writes", "share": 0.4, **_WRITE},
        {"name": "reads", "share": 0.1, **_READ},
        {"name": "more-reads", "share": 0.05, **_READ},
        {"name": "last-reads", "share": 0.05, **_READ},
    ]
}
_PUBLISHED = ("-p", "100M", "-c", "50", "--pg", "sequence", "-t", "8", "-r", "0.2", "--rf", "1")


@dataclass(frozen=True)
class Bench:
    """The two programs, and the node to which both send. Files are written to `folder`."""

    java: Path
    class_path: str
    jvm: Sequence[str]
    address: str
    folder: Path
    has_five_operations: bool = False

    def cpu_s(self, rate: int, seconds: int) -> tuple[float, float]:
        """Return CPU seconds of the plain loop, and of the generator with all files that it writes."""
        plain = ("PlainLoop", self.address, "9042", "datacenter1", f"{rate}", f"{seconds}")
        make = self._five_operations if self.has_five_operations else self._generator
        generator = make(rate, "-d", f"{seconds}s", "--progress", f"{self.folder}/progress")
        with self._started(*plain) as first, self._started(*generator) as second:
            return _cpu_s(first), _cpu_s(second)

    def measured(self, rate: int, seconds: int) -> dict[str, Any]:
        """Return the measured part of the generator's summary after a warm-up of equal length."""
        bounds = ("--backlog-limit", "2s", "--drain", "5s")
        timing = ("-d", f"{2 * seconds}s", "--response-time-warmup", f"{seconds}s")
        with self._started(*self._generator(rate, *timing, *bounds)) as process:
            _cpu_s(process)
        summary: dict[str, Any] = json.loads((self.folder / "summary.json").read_bytes())
        part: dict[str, Any] = summary["run"]["measured"]
        return part

    def _five_operations(self, rate: int, *options: str) -> tuple[str, ...]:
        workload = self.folder / "five.json"
        workload.write_text(json.dumps(_FIVE))
        files = ("--csv", f"{self.folder}/m.csv", "--hdr", f"{self.folder}/m.hdr")
        summary = ("--summary", f"{self.folder}/summary.json", "--options", str(workload))
        head = ("plimsoll.stress.Main", "run", "cql", "--host", self.address, "--rate", f"{rate}")
        return (*head, "-c", "50", "-t", "8", "--rf", "1", *files, *summary, *options)

    def _generator(self, rate: int, *options: str) -> tuple[str, ...]:
        files = ("--csv", f"{self.folder}/m.csv", "--hdr", f"{self.folder}/m.hdr")
        summary = ("--summary", f"{self.folder}/summary.json")
        head = ("plimsoll.stress.Main", "run", "BasicTimeSeries", "--host", self.address, "--rate", f"{rate}")
        return (*head, *_PUBLISHED, *files, *summary, *options)

    def _started(self, *arguments: str) -> subprocess.Popen[bytes]:
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        argv = [str(self.java), *self.jvm, quiet, "-cp", self.class_path, *arguments]
        return subprocess.Popen(argv, stdout=subprocess.DEVNULL)


def _cpu_s(process: subprocess.Popen[bytes]) -> float:
    """Wait for the process's end. Returns its CPU seconds, user and system."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print cost and accuracy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=3_000, help="ops/s of the comparison")
    parser.add_argument("--seconds", type=int, default=60, help="length of each run")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program; 0: no comparison")
    parser.add_argument("--accuracy-seconds", type=int, default=20, help="length of the measured part; 0: not at all")
    parser.add_argument("--five-operations", action="store_true", help="five operations with Zipfian keys")
    parser.add_argument("--jdk", default=LOAD_JDK, help="JDK of both programs")
    parser.add_argument("--jvm", default=_JVM, help="JVM flags of both programs")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-load-generator-") as work,
        _bench(Path(work), options.jdk, options.jvm) as bench,
    ):
        bench.measured(rate=500, seconds=3)  # makes the table, and warms up the node a little
        if options.rounds:
            compared = replace(bench, has_five_operations=options.five_operations)
            _compare(compared, options.rate, options.seconds, options.rounds)
        if options.accuracy_seconds:
            _hold_to_the_schedule(bench, options.accuracy_seconds)


def _compare(bench: Bench, rate: int, seconds: int, rounds: int) -> None:
    pairs = []
    for number in range(1, rounds + 1):
        plain, generator = (1e6 * cpu_s / (rate * seconds) for cpu_s in bench.cpu_s(rate, seconds))
        pairs.append((plain, generator))
        print(f"round {number}: {_cost(plain, generator)}", flush=True)
    plain, generator = (median(values) for values in zip(*pairs, strict=True))
    print(f"median of {rounds} at {rate} ops/s for {seconds} s: {_cost(plain, generator)}")


def _cost(plain: float, generator: float) -> str:
    ratio = f"ratio {generator / plain:.2f}"
    return f"CPU per operation: plain loop {plain:.1f} µs, load generator {generator:.1f} µs, {ratio}"


def _hold_to_the_schedule(bench: Bench, seconds: int) -> None:
    limit = bench.measured(_FAR_TOO_MUCH, seconds)["achieved_ops_s"]
    attempted = round(0.8 * limit)
    part = bench.measured(attempted, seconds)
    lag = part["generator"]["schedule_lag_ms"]
    achieved = f"{100 * part['achieved_ops_s'] / attempted:.2f} % of {attempted} ops/s over {seconds} s"
    lags = f"schedule lag p99 {lag['p99']:.2f} ms, max {lag['max']:.1f} ms, {part['generator']['cpu_cores']:.2f} cores"
    print(f"limit here {limit:.0f} ops/s; asked for 80 % of it: achieved {achieved}, {lags}")


@contextmanager
def _bench(work: Path, jdk: str, jvm: str) -> Iterator[Bench]:
    settings = Settings()
    artefacts = Artefacts(settings.cache, print)
    java, libraries = artefacts.jdk(jdk).java, artefacts.program("load-generator")
    _compile(artefacts.jdk(OWN_JDK).java, settings.cache, libraries, work)
    with _node(artefacts, _one_node(load_definition(settings, str(SMALL))), work / "cluster") as address:
        yield Bench(java, f"{work}:{libraries}/*", jvm.split(), address, work)


def _compile(java: Path, cache: Path, libraries: Path, classes: Path) -> None:
    """Compile the plain loop with the load generator's compiler."""
    locked = locked_set("ecj")
    assert locked is not None
    compiler = next(jar_folder(Cache(cache, print), locked).glob("ecj-*.jar"))
    jars = ":".join(str(jar) for jar in libraries.glob("*.jar"))
    argv = [str(java), "-jar", str(compiler), "-11", "-nowarn", "-cp", jars, "-d", str(classes), str(_SOURCE)]
    subprocess.run(argv, check=True, timeout=120)


def _one_node(definition: Definition) -> Definition:
    system = definition.system.model_copy(update={"nodes": 1})
    workload = definition.workload.model_copy(update={"replication_factor": 1})
    return definition.model_copy(update={"system": system, "workload": workload})


@contextmanager
def _node(artefacts: Artefacts, definition: Definition, work: Path) -> Iterator[str]:
    provider, clock = LocalProvider(work, SystemClock()), SystemClock()
    key = ClusterId(campaign_id="load-generator", name="node/1")
    request = ClusterRequest(id=key, owner="benchmark", nodes=1, expires_at=clock.now() + _LIFETIME)
    cluster = provider.ensure(request)
    try:
        nodes = [provider.host(cluster, info) for info in cluster.nodes]
        load = provider.host(cluster, cluster.load_host)
        Cassandra(artefacts, clock).deploy(
            variant_spec(only_part(definition), definition.variants[0]), nodes, load, _LIFETIME
        )
        yield nodes[0].info.address
    finally:
        provider.destroy(key)


if __name__ == "__main__":
    main()
