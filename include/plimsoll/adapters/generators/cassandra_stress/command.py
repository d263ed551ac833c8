"""Command lines of cassandra-stress: populate, then the timed run at a fixed rate. Pure."""

import json
from collections.abc import Sequence
from math import gcd

from plimsoll.adapters.generators.cassandra_stress.workloads import USER, rows, standard_row
from plimsoll.adapters.generators.foreign_load.generator import in_flight, run_s
from plimsoll.adapters.generators.workload_options import given_options
from plimsoll.domain.load_spec import LoadSpec
from plimsoll.ports.load_generator import LoadRequest

HDR = "cassandra-stress.hdr"
PROFILE = "profile.yaml"
LOGBACK = "logback.xml"
LOGBACK_CONTENT = """<configuration>
  <appender name="STDERR" class="ch.qos.logback.core.ConsoleAppender">
    <target>System.err</target><encoder><pattern>%level %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="STDERR"/></root>
</configuration>
"""
"""Logback's configuration: without it the generator's libraries log everything."""
_FAILURES = ("-errors", "retries=0", "ignore")
"""An operation that fails counts as failed, once, and does not end the run."""
_QUIET = "level=minimal"
"""The option against the two lines that the generator otherwise prints for each failed operation."""


def populate_arguments(request: LoadRequest) -> tuple[str, ...] | None:
    """Write every row once, as fast as the threads can; None where nothing is to be populated."""
    spec, count = request.spec, rows(request.spec.workload)
    if not count:
        return None
    what = (*_command("write", spec), f"n={count}")
    rate = ("-rate", _threads(spec))
    return (*what, "-pop", f"seq=1..{count}", *_table(spec), *rate, *_common(request), "-log", _QUIET)


def load_arguments(request: LoadRequest) -> tuple[str, ...]:
    """Return the timed run and some seconds beyond it. With `fixed=` alone do operations have intended starts.

    Its duration counts from before its reporter's first tick, and when it ends, the reporter writes one last record of
    all that it had not come to write. On a busy host it begins and ends seconds late.
    """
    spec = request.spec
    is_user = spec.workload.name == USER
    population = () if is_user else ("-pop", standard_row(spec.workload).population)
    return (
        *_command("" if is_user else standard_row(spec.workload).command, spec),
        f"duration={run_s(spec)}s",
        *population,
        *_table(spec),
        "-rate",
        _threads(spec),
        f"fixed={request.load_ops_s}/s",
        *_common(request),
        "-log",
        f"hdrfile={HDR}",
        f"interval={record_s(spec)}s",
        _QUIET,
    )


def profile(spec: LoadSpec) -> str:
    """Return the content of the profile's file, as JSON, which is also YAML."""
    return json.dumps(given_options(spec.workload)["profile"], indent=1)


def record_s(spec: LoadSpec) -> int:
    """Return the greatest length of a record, s, that divides the warm-up and every interval."""
    intervals = [round(level.interval.total_seconds()) for level in spec.service_levels]
    if any(level.windows == "sliding" for level in spec.service_levels):
        return 1
    return gcd(round(spec.timing.warmup.total_seconds()), *intervals)


def _command(name: str, spec: LoadSpec) -> tuple[str, ...]:
    """Return the cassandra-stress command and its operations, from `name`.

    For a profile: `insert` alone, or all its operations.
    """
    level = f"cl={spec.workload.consistency}"
    if spec.workload.name == USER:
        ops = given_options(spec.workload)["ops"] if not name else {"insert": 1}
        weights = ",".join(f"{op}={weight}" for op, weight in ops.items()) if isinstance(ops, dict) else ""
        return ("user", f"profile={PROFILE}", f"ops({weights})", "clustering=fixed(1)", "no-warmup", level)
    if name != "mixed":
        return (name, "no-warmup", level)
    row = standard_row(spec.workload)
    # Each operation is drawn by itself; by default runs of up to ten are of one kind.
    return (name, f"ratio(write={row.write:g},read={row.read:g})", "clustering=fixed(1)", "no-warmup", level)


def _table(spec: LoadSpec) -> Sequence[str]:
    if spec.workload.name == USER:
        return ()
    row = standard_row(spec.workload)
    replication = f"replication(factor={spec.workload.replication_factor})"
    return ("-col", f"size=fixed({row.column_size})", "n=fixed(5)", "-schema", replication)


def _threads(spec: LoadSpec) -> str:
    """Return the number of threads. Each has one operation in flight."""
    return f"threads={in_flight(spec)}"


def _common(request: LoadRequest) -> tuple[str, ...]:
    return (*_FAILURES, "-mode", "native", "cql3", "-node", ",".join(request.contact_points))
