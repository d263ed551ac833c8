"""Command lines of cassandra-stress: populate, then the timed run at a fixed rate. Pure."""

import json
from collections.abc import Sequence
from math import gcd

from plimsoll.adapters.generators.cassandra_stress.workloads import USER, rows, standard_row
from plimsoll.adapters.generators.foreign_load.generator import in_flight, run_s
from plimsoll.adapters.generators.workload_options import given_options
from plimsoll.domain.definition import Definition
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
    definition, count = request.definition, rows(request.definition.workload)
    if not count:
        return None
    what = (*_command("write", definition), f"n={count}")
    rate = ("-rate", _threads(definition))
    return (*what, "-pop", f"seq=1..{count}", *_table(definition), *rate, *_common(request), "-log", _QUIET)


def load_arguments(request: LoadRequest) -> tuple[str, ...]:
    """Return the timed run and some seconds beyond it. With `fixed=` alone do operations have intended starts.

    Its duration counts from before its reporter's first tick, and when it ends, the reporter writes one last record of
    all that it had not come to write. On a busy host it begins and ends seconds late.
    """
    definition = request.definition
    is_user = definition.workload.name == USER
    population = () if is_user else ("-pop", standard_row(definition.workload).population)
    return (
        *_command("" if is_user else standard_row(definition.workload).command, definition),
        f"duration={run_s(definition)}s",
        *population,
        *_table(definition),
        "-rate",
        _threads(definition),
        f"fixed={request.load_ops_s}/s",
        *_common(request),
        "-log",
        f"hdrfile={HDR}",
        f"interval={record_s(definition)}s",
        _QUIET,
    )


def profile(definition: Definition) -> str:
    """Return the content of the profile's file, as JSON, which is also YAML."""
    return json.dumps(given_options(definition.workload)["profile"], indent=1)


def record_s(definition: Definition) -> int:
    """Return the greatest length of a record, s, that divides the warm-up and every interval."""
    intervals = [round(level.interval.total_seconds()) for level in definition.service_levels]
    if any(level.windows == "sliding" for level in definition.service_levels):
        return 1
    return gcd(round(definition.timing.warmup.total_seconds()), *intervals)


def _command(name: str, definition: Definition) -> tuple[str, ...]:
    """Return the cassandra-stress command and its operations, from `name`.

    For a profile: `insert` alone, or all its operations.
    """
    level = f"cl={definition.workload.consistency}"
    if definition.workload.name == USER:
        ops = given_options(definition.workload)["ops"] if not name else {"insert": 1}
        weights = ",".join(f"{op}={weight}" for op, weight in ops.items()) if isinstance(ops, dict) else ""
        return ("user", f"profile={PROFILE}", f"ops({weights})", "clustering=fixed(1)", "no-warmup", level)
    if name != "mixed":
        return (name, "no-warmup", level)
    row = standard_row(definition.workload)
    # Each operation is drawn by itself; by default runs of up to ten are of one kind.
    return (name, f"ratio(write={row.write:g},read={row.read:g})", "clustering=fixed(1)", "no-warmup", level)


def _table(definition: Definition) -> Sequence[str]:
    if definition.workload.name == USER:
        return ()
    row = standard_row(definition.workload)
    replication = f"replication(factor={definition.workload.replication_factor})"
    return ("-col", f"size=fixed({row.column_size})", "n=fixed(5)", "-schema", replication)


def _threads(definition: Definition) -> str:
    """Return the number of threads. Each has one operation in flight."""
    return f"threads={in_flight(definition)}"


def _common(request: LoadRequest) -> tuple[str, ...]:
    return (*_FAILURES, "-mode", "native", "cql3", "-node", ",".join(request.contact_points))
