"""Find what a definition asks of the load generator that it can't do, before anything starts."""

from collections.abc import Iterator, Sequence

from plimsoll.adapters.plimsoll_stress.catalogue import catalogue
from plimsoll.adapters.plimsoll_stress.operations import shares
from plimsoll.adapters.plimsoll_stress.own_statements import own_statement_problems
from plimsoll.adapters.workload_options import given_options, level_problems, option_problems, timing_problems
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.spelling import meant_or_known
from plimsoll.domain.units import parse_size
from plimsoll.ports.artefacts import ArtefactSource

OWN_STATEMENTS = "cql"
_ROWS = ("rows", "recordcount")
"""What workloads call the number of rows that they populate."""
_MOST_THREADS = 1000
_MOST_CONCURRENCY = 32_768
_LEAST_HEAP = "64M"


def problems(definition: Definition, artefacts: ArtefactSource) -> Sequence[Problem]:
    """All problems at once. Downloads nothing."""
    return [
        *_workload(definition),
        *_data_per_node(definition),
        *_generator(definition),
        *timing_problems(definition),
        *artefacts.missing(definition),
    ]


def _workload(definition: Definition) -> Iterator[Problem]:
    name, known = definition.workload.name, catalogue().by_name
    if name not in known:
        yield Problem("workload.name", f"{name!r} is no workload of plimsoll-stress", meant_or_known(name, list(known)))
        return
    found = list(option_problems("workload", name, known[name].options, given_options(definition.workload)))
    if name == OWN_STATEMENTS and not found:
        found = list(own_statement_problems(given_options(definition.workload)))
    yield from found
    if not found:
        yield from level_problems(
            definition, [name for name, share in shares(definition.workload).items() if share > 0]
        )


def rows_option(workload: str) -> str | None:
    """The option that says how many rows a workload populates; None where it has none, or its keys are told apart."""
    described = catalogue().by_name.get(workload)
    if described is None or workload == OWN_STATEMENTS:
        return None
    return next((name for name in _ROWS if described.option(name)), None)


def _data_per_node(definition: Definition) -> Iterator[Problem]:
    workload = definition.workload
    if workload.data_per_node is None:
        return
    option = rows_option(workload.name)
    if option is None:
        able = ", ".join(name for name in catalogue().by_name if rows_option(name))
        what = f"{workload.name} has no number of rows that could be counted from a size"
        yield Problem("workload.data_per_node", what, f"leave it out; these have one: {able}")
    elif option in given_options(workload):
        what = f"{option!r} and `data_per_node` both say how many rows there are"
        yield Problem(f"workload.{option}", what, "leave one of them out")


def _generator(definition: Definition) -> Iterator[Problem]:
    generator = definition.load_generator
    limits = {"threads": (generator.threads, _MOST_THREADS), "concurrency": (generator.concurrency, _MOST_CONCURRENCY)}
    for key, (value, most) in limits.items():
        if value > most:
            yield Problem(f"load_generator.{key}", f"{value} is more than plimsoll-stress takes", f"at most {most}")
    if parse_size(generator.heap) < parse_size(_LEAST_HEAP):
        yield Problem("load_generator.heap", f"{generator.heap} is too small to run in", f"at least {_LEAST_HEAP}")
