"""Find what a definition asks of the load generator that it can't do, before anything starts."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.generators.plimsoll_stress.catalogue import WorkloadDescription, catalogue
from plimsoll.adapters.generators.plimsoll_stress.client_programs import CLIENT_PROGRAMS, programs
from plimsoll.adapters.generators.plimsoll_stress.foreign_keyspaces import foreign_keyspace_problems
from plimsoll.adapters.generators.plimsoll_stress.operations import shares
from plimsoll.adapters.generators.plimsoll_stress.own_statements import own_statement_problems
from plimsoll.adapters.generators.plimsoll_stress.row_ranges import ROWS, names_last_row, with_last_row
from plimsoll.adapters.generators.plimsoll_stress.sized_rows import OWN_STATEMENTS, data_per_node_problems
from plimsoll.adapters.generators.workload_options import (
    given_options,
    interval_problems,
    level_problems,
    number_of,
    option_problems,
    timing_problems,
)
from plimsoll.domain.data_size import FIRST_SAMPLE
from plimsoll.domain.errors import Problem
from plimsoll.domain.load_spec import LoadSpec
from plimsoll.domain.spelling import meant_or_known
from plimsoll.domain.units import parse_size
from plimsoll.ports.artefacts import ProgramSource

_MOST_THREADS = 1000
_MOST_CONCURRENCY = 32_768
_LEAST_HEAP = "64M"
_LENGTHS = (("minfieldlength", "fieldlength"), ("minscanlength", "maxscanlength"))


def problems(spec: LoadSpec, artefacts: ProgramSource) -> Sequence[Problem]:
    """Return all problems at once. Downloads nothing."""
    return [
        *_workload(spec),
        *_protocols(spec),
        *data_per_node_problems(spec),
        *foreign_keyspace_problems(spec),
        *_generator(spec),
        *timing_problems(spec),
        *_early_end(spec),
        *_missing(spec, artefacts),
    ]


def _early_end(spec: LoadSpec) -> Iterator[Problem]:
    if spec.timing.stop is None:
        return
    yield from interval_problems(spec)
    if spec.load_generator.hosts > 1:
        what = "each of several load hosts knows only its own part of an interval"
        yield Problem("timing.stop", what, "take one load host, or remove the key")


def _workload(spec: LoadSpec) -> Iterator[Problem]:
    name, known = spec.workload.name, catalogue().by_name
    if name not in known:
        yield Problem("workload.name", f"{name!r} is no workload of plimsoll-stress", meant_or_known(name, list(known)))
        return
    found = list(option_problems("workload", name, known[name].options, given_options(spec.workload)))
    if not found:
        own = name == OWN_STATEMENTS
        found = list(_own_statements(spec) if own else _lengths(known[name], given_options(spec.workload)))
    yield from found
    if not found:
        yield from level_problems(spec, [name for name, share in shares(spec.workload).items() if share > 0])


def _protocols(spec: LoadSpec) -> Iterator[Problem]:
    """Yield a problem for each product whose clients can't ask for the workload."""
    described = catalogue().by_name.get(spec.workload.name)
    for target in spec.targets if described else ():
        if target.protocol not in CLIENT_PROGRAMS:
            what = f"plimsoll-stress does not speak {target.protocol}, as clients of {target.product} do"
            mend = "write `load_generator: {name: command, …}`, with a load generator that does"
            yield Problem(target.key, what, mend)
        elif described and target.protocol not in described.protocols:
            able = ", ".join(one.name for one in catalogue().workloads if target.protocol in one.protocols)
            what = f"{described.name} consists of statements of CQL, which {target.product} does not understand"
            yield Problem("workload.name", what, f"these run on {target.product}: {able}")


def _missing(spec: LoadSpec, artefacts: ProgramSource) -> Iterator[Problem]:
    for program in programs(spec):
        yield from artefacts.missing_of_program(program, "load_generator.name", spec.name)


def _lengths(described: WorkloadDescription, given: Mapping[str, JsonValue]) -> Iterator[Problem]:
    """Yield a problem for each empty range of YCSB's lengths."""
    for least, most in _LENGTHS:
        options = [option for name in (least, most) if (option := described.option(name))]
        numbers = [number_of(option, given.get(option.name, option.default)) for option in options]
        if numbers and numbers[0] > numbers[1]:
            what = f"{numbers[0]:g} lies above `{most}`, which is {numbers[1]:g}"
            yield Problem(f"workload.{least}", what, "exchange them")


def _own_statements(spec: LoadSpec) -> Iterator[Problem]:
    """Yield faults of own statements. While rows are still to be counted, the last row is that of the first sample."""
    given, is_counted = given_options(spec.workload), spec.workload.data_per_node is not None
    if names_last_row(given) and not given.get(ROWS) and not is_counted:
        what = "is missing: a bind has `max: rows`, which is the number of the last row"
        yield Problem(f"workload.{ROWS}", what, "write a count like 1M")
        is_counted = True
    rows = {ROWS: FIRST_SAMPLE} if is_counted else {}
    yield from own_statement_problems(with_last_row({**rows, **given}), has_other_tables=spec.owns == "nothing")


def _generator(spec: LoadSpec) -> Iterator[Problem]:
    generator = spec.load_generator
    limits = {"threads": (generator.threads, _MOST_THREADS), "concurrency": (generator.concurrency, _MOST_CONCURRENCY)}
    for key, (value, most) in limits.items():
        if value > most:
            yield Problem(f"load_generator.{key}", f"{value} is more than plimsoll-stress takes", f"at most {most}")
    if parse_size(generator.heap) < parse_size(_LEAST_HEAP):
        yield Problem("load_generator.heap", f"{generator.heap} is too small to run in", f"at least {_LEAST_HEAP}")
