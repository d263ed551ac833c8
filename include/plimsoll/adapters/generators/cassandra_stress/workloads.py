"""Workloads of cassandra-stress, its own `write`, `read` and `mixed` and `user` profiles, and the command lines of a
load: populate, then the timed run at a fixed rate. Pure.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from pydantic import JsonValue

from plimsoll.adapters.generators.foreign_load import in_flight, run_s
from plimsoll.adapters.generators.workload_options import Option, given_options, number_of
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.log_words import KINDS
from plimsoll.domain.keys.workload import Workload
from plimsoll.ports.load_generator import LoadRequest

USER = "user"
_MOST = 1e18
_STANDARD = (
    Option(name="rows", type="count", default=1_000_000, minimum=1, maximum=_MOST, doc="Rows to populate, and keys"),
    Option(name="write", type="number", minimum=0, maximum=1e6, doc="Weight of writes"),
    Option(name="read", type="number", minimum=0, maximum=1e6, doc="Weight of reads"),
    Option(
        name="keys",
        type="choice",
        default="gaussian",
        choices=("gaussian", "uniform", "sequence"),
        doc="How keys are drawn",
    ),
    Option(name="mean", type="number", minimum=0, maximum=_MOST, doc="Gaussian keys: mean; by default the middle"),
    Option(
        name="deviation",
        type="number",
        minimum=1e-9,
        maximum=_MOST,
        doc="Gaussian keys: standard deviation; by default half of the rows over 3",
    ),
    Option(name="column_size", type="count", default=34, minimum=1, maximum=1e6, doc="Bytes of each of five columns"),
)
_USER = (
    Option(name="profile", type="profile", required=True, doc="The profile: keyspace, table, columnspec, queries"),
    Option(name="ops", type="ops", required=True, doc="Weight of each operation: `insert` and the profile's queries"),
    Option(name="rows", type="count", default=0, minimum=0, maximum=_MOST, doc="Partitions to insert before the run"),
)
_WEIGHTS: Mapping[str, tuple[float, float]] = {"StandardRow": (1, 1), "mixed": (1, 1), "write": (1, 0), "read": (0, 1)}
"""Weights of writes and reads unless they are given."""

OPTIONS: Mapping[str, tuple[Option, ...]] = {**dict.fromkeys(_WEIGHTS, _STANDARD), USER: _USER}
"""Workload → its options. `StandardRow` is plimsoll-stress' name of the same table, so both run one definition."""

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


def rows(workload: Workload) -> int:
    """Return the number of rows (or partitions of a profile) that are written before the timed run."""
    option = next(option for option in OPTIONS[workload.name] if option.name == "rows")
    return int(_number(option, given_options(workload)) or 0)


@dataclass(frozen=True)
class StandardRow:
    """The options of a workload on cassandra-stress' own table. Weights are numbers; keys are 1 … `rows`."""

    rows: int
    write: float
    read: float
    keys: str
    mean: float
    deviation: float
    column_size: int

    @property
    def command(self) -> str:
        """Return the command of the timed run."""
        return "mixed" if self.write and self.read else "write" if self.write else "read"

    @property
    def population(self) -> str:
        """Return the value of `-pop`: how the timed run draws keys."""
        if self.keys == "sequence":
            return f"seq=1..{self.rows}"
        if self.keys == "uniform":
            return f"dist=uniform(1..{self.rows})"
        return f"dist=gaussian(1..{self.rows},{self.mean:.15g},{self.deviation:.15g})"


def standard_row(workload: Workload) -> StandardRow:
    """Return the definition's options, which were checked before, with cassandra-stress' defaults for missing ones."""
    options, weights = given_options(workload), _WEIGHTS[workload.name]
    numbers = {option.name: _number(option, options) for option in _STANDARD if option.type != "choice"}
    count = int(numbers["rows"] or 0)
    # Of one row there is nothing to draw, and its standard deviation would be 0, which latte can't draw with.
    keys = str(options.get("keys") or "gaussian") if count > 1 else "sequence"
    return StandardRow(
        rows=count,
        write=weights[0] if numbers["write"] is None else numbers["write"],
        read=weights[1] if numbers["read"] is None else numbers["read"],
        keys=keys,
        mean=(1 + count) / 2 if numbers["mean"] is None else numbers["mean"],
        deviation=(count - 1) / 2 / 3 if numbers["deviation"] is None else numbers["deviation"],
        column_size=int(numbers["column_size"] or 0),
    )


def shares(workload: Workload) -> dict[str, float]:
    """Return operation → share of all operations, 0 to 1, with the names that results have."""
    weights: dict[str, float] = {}
    if workload.name == USER:
        ops = given_options(workload).get("ops")
        for name, weight in ops.items() if isinstance(ops, dict) else ():
            kind = KINDS.get(name.lower(), name)
            weights[kind] = weights.get(kind, 0) + int(str(weight))
    else:
        row = standard_row(workload)
        weights = {"writes": row.write, "reads": row.read}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items() if weight} if total else {}


def _number(option: Option, options: Mapping[str, JsonValue]) -> float | None:
    value = options.get(option.name, option.default)
    return None if value is None else number_of(option, value)


def populate_arguments(request: LoadRequest) -> tuple[str, ...] | None:
    """Write every row once, as fast as the threads can; None where nothing is to be populated."""
    spec, count = request.spec, rows(request.spec.workload)
    if not count:
        return None
    command = (*_command("write", spec), f"n={count}")
    rate = ("-rate", f"threads={in_flight(spec)}")
    return (*command, "-pop", f"seq=1..{count}", *_table(spec), *rate, *_common(request), "-log", _QUIET)


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
        f"threads={in_flight(spec)}",  # each has one operation in flight
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
        return 1  # A sliding window begins at every record
    return gcd(round(spec.timing.warmup.total_seconds()), *intervals)


def _command(name: str, spec: LoadSpec) -> tuple[str, ...]:
    """Return the cassandra-stress command and its operations, from `name`. Of a profile: `insert` or all."""
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


def _common(request: LoadRequest) -> tuple[str, ...]:
    return (*_FAILURES, "-mode", "native", "cql3", "-node", ",".join(request.contact_points))
