"""Tell which workloads can populate to a size on disk, and give them the number of counted rows. Pure.

`max: rows` in the binds of own statements is the number of the last populated row, as rows are numbered from 0.
So keys are drawn from all populated rows, however many they are, and also where their number is still to be counted
from a size on disk.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import ceil

from pydantic import JsonValue

from plimsoll.adapters.generators.plimsoll_stress.catalogue import catalogue
from plimsoll.adapters.generators.workload_options import given_options
from plimsoll.domain.errors import Problem
from plimsoll.domain.specs import LoadSpec
from plimsoll.domain.units import parse_count

OWN_STATEMENTS = "cql"
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
    """Return the same whose workload populates that many rows, or a few more where threads must have as many
    each.

    ValueError where the workload populates none.
    """
    workload = spec.workload
    option = rows_option(workload.name)
    if option is None:
        raise ValueError(f"{workload.name} has no rows that could be counted")
    told = ceil(rows / all_threads(spec)) if option == _OF_EACH_THREAD else rows
    return replace(spec, workload=workload.with_options(**{option: told}))


def data_per_node_problems(spec: LoadSpec) -> Iterator[Problem]:
    """Yield faults where a size is asked for and rows can't be counted from it, or their number is given as well."""
    workload = spec.workload
    if workload.data_per_node is None:
        return
    option = rows_option(workload.name)
    if option is None:
        able = ", ".join(name for name in catalogue().by_name if rows_option(name))
        what = f"{workload.name} populates no rows that could be counted from a size"
        yield Problem("workload.data_per_node", what, f"leave it out; these populate: {able}")
    elif _is_given(spec, option):
        what = f"{option!r} and `data_per_node` both say how many rows there are"
        yield Problem(f"workload.{option}", what, "leave one of them out")
    elif workload.name == OWN_STATEMENTS:
        yield from _own_population(given_options(workload).get("population"))


def _is_given(spec: LoadSpec, option: str) -> bool:
    """Tell whether somebody says how many rows there are. BasicTimeSeries has the option always, with 0 for none."""
    if option == _OF_EACH_THREAD:
        return spec.workload.populate > 0
    return option in given_options(spec.workload)


def _own_population(population: object) -> Iterator[Problem]:
    if not isinstance(population, dict):
        mend = "write `population: {statement: …, bind: …}`"
        yield Problem("workload.population", "is missing: how a row is populated", mend)
    elif not numbers_all_rows(population):
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


def numbers_all_rows(population: JsonValue) -> bool:
    """Tell whether each populated row differs from all others: by a sequence with `max: rows`, or by the time."""
    return any(
        bind.get("distribution") == "now" or (bind.get("distribution") == "sequence" and bind.get(_MOST) == ROWS)
        for bind in _binds(population)
    )


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
