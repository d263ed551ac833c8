"""Sentences on a load for plan, verdict and report: what it does not do or show, and what it writes into a database
of somebody else. Pure.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from plimsoll.adapters.generators.plimsoll_stress.catalogue import WorkloadDescription, catalogue, shares
from plimsoll.adapters.generators.plimsoll_stress.own_statements import first_page_remarks
from plimsoll.adapters.generators.plimsoll_stress.sized_rows import OWN_STATEMENTS, all_threads, rows_option
from plimsoll.adapters.generators.workload_options import given_options, number_of
from plimsoll.domain.loads import CLOSED
from plimsoll.domain.protocols import HBASE
from plimsoll.domain.specs import LoadSpec
from plimsoll.domain.wording import plural
from plimsoll.domain.workload import BASIC_TIME_SERIES

_CLOSED = (
    "CLOSED LOOP, which HIDES WAITS: an operation is sent only when fewer than {} are in flight, at most at the load's "
    "rate, and its time counts from the send. A slow database is asked less instead of later, so these times are no "
    "response times and no service would see them. What was sent, not the load, is the rate"
)
_NO_LOGGED_BATCHES = "HBase has no logged batches: there, a batch is as many puts that are sent together"
_HIDDEN = (
    "what the nodes of an external cluster did is not known (pauses, compactions, their hosts): causes of misses are "
    "found on the load's side alone"
)

_READS = ("reads", "scans")
_ROW_BYTES: Mapping[str, Callable[[Mapping[str, float]], float]] = {
    BASIC_TIME_SERIES: lambda _: 180,  # 100 to 199 letters, a short key, a time
    "KeyValue": lambda _: 20,  # two numbers as text
    "StandardRow": lambda options: 10 + 5 * options["column_size"],
    "BatchedRows": lambda options: 16 + options["size"],
    **{f"Ycsb{one}": lambda options: 24 + options["fieldcount"] * options["fieldlength"] for one in "ABCDEF"},
}
"""Bytes of a row's keys and values, as the program makes them; of a changed row as if it were written whole."""


def limits(spec: LoadSpec) -> Sequence[str]:
    """Return what reports must say of such a load, without full stops."""
    return tuple(_limits(spec))


def _limits(spec: LoadSpec) -> Iterator[str]:
    if spec.loop == CLOSED:
        yield _CLOSED.format(plural(spec.load_generator.most_in_flight, "operation"))
    if any(target.protocol == HBASE for target in spec.targets) and spec.workload.name == "BatchedRows":
        yield _NO_LOGGED_BATCHES
    if spec.owns != "cluster":
        yield _HIDDEN
    yield from first_page_remarks(given_options(spec.workload))


def written(spec: LoadSpec, loads: Sequence[int]) -> str:
    """Return what all cells write at most: rows, bytes as far as they are known, and how often."""
    name = spec.workload.name
    what = f"each of {plural(len(loads), 'cell')} makes the keyspace, writes into it and drops it"
    described = catalogue().by_name.get(name)
    if described is None or not loads:
        return f"{what}; how much, nobody knows beforehand"
    options = _options(spec, described)
    populated = _populated(spec, options)
    seconds = spec.timing.duration.total_seconds()
    share = sum(part for operation, part in shares(spec.workload).items() if operation not in _READS)
    loaded = [round(load * seconds * share * options.get("batch_rows", 1)) for load in loads]
    replicas = spec.workload.replication_factor
    rows = populated * len(loads) + sum(loaded)
    sizes = _ROW_BYTES.get(name)
    if sizes is None:
        size = "rows of a size that is not known beforehand"
    else:
        size = f"at least {_bytes(sizes(options))} a row, {_bytes(sizes(options) * rows * replicas)} over all replicas"
    if name == OWN_STATEMENTS:
        most = f"{plural(populated, 'row')} before its load, and in the load as many as its statements write"
    else:
        most = f"{plural(populated, 'row')} before its load, and at most {max(loaded):,} in it; {rows:,} rows in all"
    return f"{what}: {most}, {plural(replicas, 'replica')} of each ({size})"


def _options(spec: LoadSpec, described: WorkloadDescription) -> Mapping[str, float]:
    """Return the options that are numbers, given or by default."""
    given = given_options(spec.workload)
    return {
        option.name: number_of(option, value)
        for option in described.options
        if option.type in ("count", "number") and (value := given.get(option.name, option.default)) is not None
    }


def _populated(spec: LoadSpec, options: Mapping[str, float]) -> int:
    """Return the number of rows that are written before a load."""
    threads, rows = all_threads(spec), options.get(rows_option(spec.workload.name) or "", 0)
    if spec.workload.name == "BatchedRows":
        return int(options["populate_batches"] * options["batch_rows"] * threads)
    return int(rows * threads if spec.workload.name == BASIC_TIME_SERIES else rows)


def _bytes(number: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return plural(round(number), "byte")
