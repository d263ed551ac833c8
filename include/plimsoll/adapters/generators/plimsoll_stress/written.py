"""What the loads of a definition write into a database of somebody else, in a sentence for the plan. Pure."""

from collections.abc import Callable, Mapping, Sequence

from plimsoll.adapters.generators.plimsoll_stress.catalogue import WorkloadDescription, catalogue
from plimsoll.adapters.generators.plimsoll_stress.operations import shares
from plimsoll.adapters.generators.plimsoll_stress.sized_rows import OWN_STATEMENTS, all_threads, rows_option
from plimsoll.adapters.generators.workload_options import given_options, number_of
from plimsoll.domain.load_spec import LoadSpec
from plimsoll.domain.plurals import plural
from plimsoll.domain.workload import BASIC_TIME_SERIES

_READS = ("reads", "scans")
_ROW_BYTES: Mapping[str, Callable[[Mapping[str, float]], float]] = {
    BASIC_TIME_SERIES: lambda _: 180,  # 100 to 199 letters, a short key, a time
    "KeyValue": lambda _: 20,  # two numbers as text
    "StandardRow": lambda options: 10 + 5 * options["column_size"],
    "BatchedRows": lambda options: 16 + options["size"],
    **{f"Ycsb{one}": lambda options: 24 + options["fieldcount"] * options["fieldlength"] for one in "ABCDEF"},
}
"""Bytes of a row's keys and values, as the program makes them; of a changed row as if it were written whole."""


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
