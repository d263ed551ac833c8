"""Sentences on a load for plan, verdict and report: what it does not do or show, and what it writes into a database
of somebody else. Which workloads can populate to a size on disk, and their number of counted rows. Pure.

`max: rows` in the binds of own statements is the number of the last populated row, as rows are numbered from 0.
So keys are drawn from all populated rows, however many they are, and also where their number is still to be counted
from a size on disk.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil

from pydantic import JsonValue

from plimsoll.adapters.generators.plimsoll_stress.catalogue import OWN_STATEMENTS, catalogue, own_operations, shares
from plimsoll.adapters.generators.workload_options import given_options, number_of
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.loads import CLOSED
from plimsoll.domain.keys.workload import BASIC_TIME_SERIES, HBASE
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.units import parse_count
from plimsoll.domain.text.wording import plural

_OF_EACH_THREAD = "populate"
_ROWS = ("rows", "recordcount", _OF_EACH_THREAD)
"""The options by which workloads set the number of rows that they populate."""

ROWS = "rows"
"""The option with the number of rows, and the word for the last of them."""

_MOST = "max"
Options = Mapping[str, JsonValue]


def rows_option(workload: str) -> str | None:
    """Return the option that says how many rows a workload populates; None where it populates none."""
    described = catalogue().by_name.get(workload)
    return next((name for name in _ROWS if described and described.option(name)), None)


def with_rows(spec: LoadSpec, rows: int) -> LoadSpec:
    """Return the same whose workload populates that many rows, or a few more where threads must have as many each.

    Raises ValueError where the workload populates none.
    """
    workload = spec.workload
    option = rows_option(workload.name)
    if option is None:
        raise ValueError(f"{workload.name} has no rows that could be counted")
    count = ceil(rows / all_threads(spec)) if option == _OF_EACH_THREAD else rows
    return replace(spec, workload=workload.with_options(**{option: count}))


def data_per_node_problems(spec: LoadSpec) -> Iterator[Problem]:
    """Yield faults where a size is asked for and rows can't be counted from it, or their number is given as well."""
    workload = spec.workload
    if workload.data_per_node is None:
        return
    option, options = rows_option(workload.name), given_options(workload)
    # BasicTimeSeries has the option always, with 0 for none.
    is_given = workload.populate > 0 if option == _OF_EACH_THREAD else option in options
    if option is None:
        able = ", ".join(name for name in catalogue().by_name if rows_option(name))
        what = f"{workload.name} populates no rows that could be counted from a size"
        yield Problem("workload.data_per_node", what, f"leave it out; these populate: {able}")
    elif is_given:
        what = f"{option!r} and `data_per_node` both say how many rows there are"
        yield Problem(f"workload.{option}", what, "leave one of them out")
    elif workload.name == OWN_STATEMENTS:
        yield from _own_population(options.get("population"))


def _own_population(population: JsonValue) -> Iterator[Problem]:
    if not isinstance(population, dict):
        mend = "write `population: {statement: …, bind: …}`"
        yield Problem("workload.population", "is missing: how a row is populated", mend)
    elif not any(_numbers_rows(bind) for bind in _binds(population)):
        what = "no marker distinguishes the counted rows, so they would overwrite each other"
        mend = "bind a marker of the key to `{distribution: sequence, max: rows}`: `rows` is the last row's number"
        yield Problem("workload.population.bind", what, mend)


def all_threads(spec: LoadSpec) -> int:
    """Return the number of threads of all load hosts together."""
    return spec.load_generator.threads * spec.load_generator.hosts


def with_last_row(given: Options) -> dict[str, JsonValue]:
    """Return the options with a number for each `max: rows`; unchanged where no number of rows is given."""
    try:
        last = parse_count(str(given.get(ROWS, ""))) - 1
    except ValueError:  # the check of `rows` itself says so
        return dict(given)
    return {name: _filled(value, last) for name, value in given.items()} if last >= 0 else dict(given)


def names_last_row(given: Options) -> bool:
    """Tell whether a bind of these options has `max: rows`."""
    return any(bind.get(_MOST) == ROWS for bind in _binds(dict(given)))


def _numbers_rows(bind: Options) -> bool:
    """Tell whether its value differs in each populated row: a sequence with `max: rows`, or the time."""
    distribution = bind.get("distribution")
    return distribution == "now" or (distribution == "sequence" and bind.get(_MOST) == ROWS)


def _binds(value: JsonValue) -> Iterator[Options]:
    """Yield every mapping with a distribution, at any depth."""
    if isinstance(value, dict):
        if "distribution" in value:
            yield value
        for inner in value.values():
            yield from _binds(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _binds(inner)


def _filled(value: JsonValue, last: int) -> JsonValue:
    if isinstance(value, list):
        return [_filled(inner, last) for inner in value]
    if not isinstance(value, dict):
        return value
    is_bind = "distribution" in value
    return {
        key: last if is_bind and key == _MOST and inner == ROWS else _filled(inner, last)
        for key, inner in value.items()
    }


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
    **{f"Ycsb{letter}": lambda options: 24 + options["fieldcount"] * options["fieldlength"] for letter in "ABCDEF"},
}
"""Bytes of a row's keys and values, as the program makes them; of a changed row as if it were written whole."""


def limits(spec: LoadSpec) -> Iterator[str]:
    """Yield what reports must say of such a load, without full stops."""
    if spec.loop == CLOSED:
        yield _CLOSED.format(plural(spec.load_generator.most_in_flight, "operation"))
    if any(target.protocol == HBASE for target in spec.targets) and spec.workload.name == "BatchedRows":
        yield _NO_LOGGED_BATCHES
    if spec.owns != "cluster":
        yield _HIDDEN
    for operation in own_operations(given_options(spec.workload)):
        if operation.get("first_page") is True:
            name = operation.get("name")
            yield f"{name} is timed to the first page of each answer (at most 5,000 rows), not to its end"


def written(spec: LoadSpec, loads: Sequence[int]) -> str:
    """Return what all cells write at most: rows, bytes as far as they are known, and how often."""
    name = spec.workload.name
    what = f"each of {plural(len(loads), 'cell')} makes the keyspace, writes into it and drops it"
    if name not in catalogue().by_name or not loads:
        return f"{what}; how much, nobody knows beforehand"
    options = _options(spec)
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


def _options(spec: LoadSpec) -> Mapping[str, float]:
    """Return the options that are numbers, given or by default."""
    options = given_options(spec.workload)
    return {
        option.name: number_of(option, value)
        for option in catalogue().by_name[spec.workload.name].options
        if option.type in ("count", "number") and (value := options.get(option.name, option.default)) is not None
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
