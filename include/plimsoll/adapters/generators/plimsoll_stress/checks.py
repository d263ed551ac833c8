"""Find what a definition asks of the load generator that it can't do, before anything starts.

In a database that somebody else runs, own statements that would change what is not a load's own are refused. This
guards against mistakes. The rights of the user who logs in are the guard against everything else.
"""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.cql import words_of
from plimsoll.adapters.generators.plimsoll_stress.catalogue import OWN_STATEMENTS, catalogue, share_options, shares
from plimsoll.adapters.generators.plimsoll_stress.command import CLIENT_PROGRAMS, KEYSPACE, programs
from plimsoll.adapters.generators.plimsoll_stress.own_statements import own_statement_problems, schema_statements
from plimsoll.adapters.generators.plimsoll_stress.remarks import (
    ROWS,
    data_per_node_problems,
    names_last_row,
    with_last_row,
)
from plimsoll.adapters.generators.workload_options import (
    given_options,
    length_problems,
    number_of,
    operation_problems,
    option_problems,
)
from plimsoll.domain.attempt.populated_data import FIRST_SAMPLE
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.units import format_rate, parse_size
from plimsoll.domain.text.wording import meant_or_known
from plimsoll.ports.artefacts import ProgramSource

_MOST_THREADS = 1000
_MOST_CONCURRENCY = 32_768  # The native protocol has no more numbers for the requests of a connection
_LEAST_HEAP = "64M"
_MOST_OPS_S = 10_000_000
_LENGTHS = (("minfieldlength", "fieldlength"), ("minscanlength", "maxscanlength"))
_READS, _WRITES, _TABLES = ("select",), ("insert", "update", "delete", "begin"), ("create",)
_MADE = ("table", "index", "custom", "type", "materialized")
_BEFORE_NAMES = ("from", "into", "update", "table", "exists", "type", "view")


def problems(spec: LoadSpec, artefacts: ProgramSource) -> Sequence[Problem]:
    """Return all problems at once. Downloads nothing."""
    named = ("load_generator.name", spec.name)
    return [
        *_workload(spec),
        *_protocols(spec),
        *data_per_node_problems(spec),
        *foreign_keyspace_problems(spec),
        *_generator(spec),
        *length_problems(spec, with_intervals=spec.timing.stop is not None),
        *_early_end(spec),
        *(lack for program in programs(spec) for lack in artefacts.missing_of_program(program, *named)),
    ]


def _early_end(spec: LoadSpec) -> Iterator[Problem]:
    if spec.timing.stop is not None and spec.load_generator.hosts > 1:
        what = "each of several load hosts knows only its own part of an interval"
        yield Problem("timing.stop", what, "take one load host, or remove the key")


def _workload(spec: LoadSpec) -> Iterator[Problem]:
    name, known = spec.workload.name, catalogue().by_name
    if name not in known:
        yield Problem("workload.name", f"{name!r} is no workload of plimsoll-stress", meant_or_known(name, list(known)))
        return
    options = given_options(spec.workload)
    faults = list(option_problems("workload", name, known[name].options, options))
    if not faults:
        faults = list(_own_statements(spec) if name == OWN_STATEMENTS else _lengths(name, options))
    yield from faults
    if not faults:
        asked = [name for name, share in shares(spec.workload).items() if share > 0]
        yield from operation_problems(spec, asked, share_options(known[name]))


def _protocols(spec: LoadSpec) -> Iterator[Problem]:
    """Yield a problem for each product whose clients can't ask for the workload."""
    described = catalogue().by_name.get(spec.workload.name)
    for target in spec.targets if described else ():
        if target.protocol not in CLIENT_PROGRAMS:
            what = f"plimsoll-stress does not speak {target.protocol}, as clients of {target.product} do"
            mend = "write `load_generator: {name: command, …}`, with a load generator that does"
            yield Problem(target.key, what, mend)
        elif described and target.protocol not in described.protocols:
            able = [workload.name for workload in catalogue().workloads if target.protocol in workload.protocols]
            what = f"{described.name} consists of statements of CQL, which {target.product} does not understand"
            yield Problem("workload.name", what, f"these run on {target.product}: {', '.join(able)}")


def _lengths(workload: str, settings: Mapping[str, JsonValue]) -> Iterator[Problem]:
    """Yield a problem for each empty range of YCSB's lengths."""
    described = catalogue().by_name[workload]
    for least, most in _LENGTHS:
        options = [option for name in (least, most) if (option := described.option(name))]
        numbers = [number_of(option, settings.get(option.name, option.default)) for option in options]
        if numbers and numbers[0] > numbers[1]:
            what = f"{numbers[0]:g} lies above `{most}`, which is {numbers[1]:g}"
            yield Problem(f"workload.{least}", what, "exchange them")


def _own_statements(spec: LoadSpec) -> Iterator[Problem]:
    """Yield faults of own statements. While rows are still to be counted, the last row is that of the first sample."""
    options, is_counted = given_options(spec.workload), spec.workload.data_per_node is not None
    if names_last_row(options) and not options.get(ROWS) and not is_counted:
        what = "is missing: a bind has `max: rows`, which is the number of the last row"
        yield Problem(f"workload.{ROWS}", what, "write a count like 1M")
        is_counted = True
    rows = {ROWS: FIRST_SAMPLE} if is_counted else {}
    yield from own_statement_problems(with_last_row({**rows, **options}), has_other_tables=spec.owns == "nothing")


def _generator(spec: LoadSpec) -> Iterator[Problem]:
    generator = spec.load_generator
    limits = {"threads": (generator.threads, _MOST_THREADS), "concurrency": (generator.concurrency, _MOST_CONCURRENCY)}
    for key, (value, most) in limits.items():
        if value > most:
            yield Problem(f"load_generator.{key}", f"{value} is more than plimsoll-stress takes", f"at most {most}")
    if parse_size(generator.heap) < parse_size(_LEAST_HEAP):
        yield Problem("load_generator.heap", f"{generator.heap} is too small to run in", f"at least {_LEAST_HEAP}")
    if spec.most_ops_s > _MOST_OPS_S:
        what = f"{format_rate(spec.most_ops_s)} is more than plimsoll-stress sends"
        yield Problem("loads", what, f"at most {format_rate(_MOST_OPS_S)}")


def foreign_keyspace_problems(spec: LoadSpec) -> Iterator[Problem]:
    """Yield each statement that a load may not send to that cluster, or that its keyspaces can't answer."""
    options, is_read_only = given_options(spec.workload), spec.owns == "nothing"
    if spec.workload.name != OWN_STATEMENTS:
        if is_read_only:
            what = f"{spec.workload.name} writes rows of its own, and the keyspace is to be read only"
            mend = f"write `name: {OWN_STATEMENTS}` and the statements to read with, or let Plimsoll make a keyspace"
            yield Problem("workload.name", what, mend)
        return
    for key in ("schema", "population") if is_read_only else ():
        if options.get(key):
            yield Problem(f"workload.{key}", "writes, and the keyspace is to be read only", "remove it")
    for where, statement in _statements(options):
        words = words_of(statement)
        name = _foreign_name(words)
        if spec.owns == "cluster":
            is_foreign, why = name != KEYSPACE and not name.startswith("system"), "which a new cluster does not have"
        else:
            yield from _kind(where, words, is_read_only=is_read_only)
            is_foreign, why = not is_read_only, "which is not the load's own"
        if name and is_foreign:
            mend = "write the table's name alone, or `{keyspace}.` before it"
            yield Problem(where, f"names the keyspace {name}, {why}", mend)


def _kind(where: str, words: Sequence[str], *, is_read_only: bool) -> Iterator[Problem]:
    first = words[0] if words else ""
    if where.startswith("workload.schema"):
        if first not in _TABLES or not {*words[1:2]} & {*_MADE}:
            yield Problem(where, "does more than make a table of the load's own", "write `CREATE TABLE …`, or an index")
    elif first not in (_READS if is_read_only else (*_READS, *_WRITES)):
        allowed = "SELECT" if is_read_only else "SELECT, INSERT, UPDATE or DELETE"
        why = "the keyspace is to be read only" if is_read_only else "it does more than a client's load"
        yield Problem(where, f"begins with {first.upper() or 'nothing'}, and {why}", f"begin it with {allowed}")


def _foreign_name(words: Sequence[str]) -> str:
    """Return the keyspace before a table's name, where it is not the load's own; empty without one."""
    before = (*_BEFORE_NAMES, "on") if words[:1] == ["create"] else _BEFORE_NAMES
    for number in range(1, len(words) - 1):
        if words[number - 1] in before and words[number + 1] == ".":
            return words[number]
    return ""


def _statements(options: dict[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield every statement of the workload with its key."""
    for where, statement in schema_statements(options):
        if isinstance(statement, str):
            yield where, statement
    operations = options.get("operations")
    listed = enumerate(operations if isinstance(operations, list) else [])
    numbered = [(f"workload.operations[{number}]", operation) for number, operation in listed]
    for where, keys in (*numbered, ("workload.population", options.get("population"))):
        for key in ("statement", "read_back"):
            if isinstance(keys, dict) and isinstance(keys.get(key), str):
                yield f"{where}.{key}", str(keys[key])
