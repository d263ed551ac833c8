"""Tell which workloads can populate to a size on disk, and give them the number of counted rows. Pure."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from plimsoll.adapters.generators.plimsoll_stress.catalogue import catalogue
from plimsoll.adapters.generators.plimsoll_stress.row_ranges import numbers_all_rows
from plimsoll.adapters.generators.workload_options import given_options
from plimsoll.domain.errors import Problem
from plimsoll.domain.load_spec import LoadSpec

OWN_STATEMENTS = "cql"
_OF_EACH_THREAD = "populate"
_ROWS = ("rows", "recordcount", _OF_EACH_THREAD)
"""The options by which workloads set the number of rows that they populate."""


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
    """Yield faults where a size on disk is asked for and rows can't be counted from it, or their number is given as
    well.
    """
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
    """Tell whether the definition says how many rows there are.

    BasicTimeSeries has the option always, with 0 for none.
    """
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
