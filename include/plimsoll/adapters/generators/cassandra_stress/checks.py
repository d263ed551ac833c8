"""Find what a definition asks of cassandra-stress that it can't do, before anything starts.

cassandra-stress and its libraries as parts of a release of Cassandra: they are not published separately.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.cql import Table, created_table, name_of, tables, types, words_of
from plimsoll.adapters.cql.statements import statement_faults, table_faults, unread
from plimsoll.adapters.generators.cassandra_stress.workloads import OPTIONS, USER, shares
from plimsoll.adapters.generators.workload_options import (
    given_options,
    length_problems,
    operation_problems,
    option_problems,
    protocol_problems,
)
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.wording import meant_or_known
from plimsoll.ports.artefacts import ProgramSource, ReleaseProgram

PROGRAM = ReleaseProgram(
    name="cassandra-stress",
    product="Cassandra",
    lock="stress-of-cassandra",
    folders=("lib", "tools/lib"),
    # The release's own HdrHistogram needs a class that JDKs have no more since 11.
    replaced="HdrHistogram-",
)

_MOST_THREADS = 4096
_NAME = re.compile(r"[A-Za-z]\w*")
_PROFILE_KEYS = ("keyspace", "table")


def problems(spec: LoadSpec, artefacts: ProgramSource) -> Sequence[Problem]:
    """Return all problems at once. Downloads nothing."""
    lacks = artefacts.missing_of_program(PROGRAM, "load_generator.name", spec.name)
    speaks = protocol_problems(spec, PROGRAM.name)
    faults = workload_problems(spec, OPTIONS, "that cassandra-stress can put on")
    return [*speaks, *faults, *_generator(spec), *length_problems(spec), *lacks]


def workload_problems(spec: LoadSpec, known: Collection[str], kind: str) -> Iterator[Problem]:
    """Yield faults of a workload's name, of its options, else of its operations.

    `known`: those of these workloads that the generator has, of a `kind` such as `that cassandra-stress can put on`.
    """
    name, options = spec.workload.name, given_options(spec.workload)
    if name not in known:
        yield Problem("workload.name", f"{name!r} is no workload {kind}", meant_or_known(name, list(known)))
        return
    faults = list(option_problems("workload", name, OPTIONS[name], options))
    if name == USER and not faults:
        faults = list(_profile(options))
    yield from faults
    if not faults:
        yield from operation_problems(spec, shares(spec.workload))


def _profile(options: Mapping[str, JsonValue]) -> Iterator[Problem]:
    profile, ops = options["profile"], options["ops"]
    if not isinstance(profile, dict):
        yield Problem("workload.profile", "must have keys of its own", "write the profile here, as YAML")
        return
    for key in _PROFILE_KEYS:
        if not isinstance(profile.get(key), str):
            yield Problem(f"workload.profile.{key}", "is missing", f"write the {key}'s name")
    queries = profile.get("queries") or {}
    known = ["insert", *(queries if isinstance(queries, dict) else ())]
    if not isinstance(ops, dict) or not ops:
        yield Problem("workload.ops", "must have a weight for each operation", "write `{insert: 1, …}`")
        return
    for name, weight in ops.items():
        if name not in known or not _NAME.fullmatch(name):
            yield Problem(f"workload.ops.{name}", "the profile has no such operation", meant_or_known(name, known))
        elif not isinstance(weight, int) or isinstance(weight, bool) or weight < 0:
            yield Problem(f"workload.ops.{name}", f"{weight!r} is no weight", "write a whole number")
    if all(isinstance(profile.get(key), str) for key in _PROFILE_KEYS):
        yield from _profile_cql(profile)


def _profile_cql(profile: Mapping[str, JsonValue]) -> Iterator[Problem]:
    """Yield faults of a profile's own statements, and of columns that its table does not have."""
    where, name = "workload.profile", name_of((words_of(str(profile["table"])) or [""])[-1])
    yield from _definition(where, profile, "keyspace_definition", ("keyspace", "schema"))
    faults = list(_definition(where, profile, "table_definition", ("table", "columnfamily")))
    yield from faults
    if faults:
        return
    definition, schema = str(profile["table_definition"]), _schema(profile)
    known, table = tables(schema), created_table(words_of(definition)) or Table()
    if name not in tables([definition]):
        yield Problem(f"{where}.table", f"`table_definition` makes no table {name}", meant_or_known(name, known))
        return
    for what, mend in table_faults(table, types(schema)):
        yield Problem(f"{where}.table_definition", what, mend)
    specified = profile.get("columnspec")
    for number, column in enumerate(specified if isinstance(specified, list) else ()):
        column_name = str(column.get("name")) if isinstance(column, dict) else ""
        if column_name and table.is_whole and column_name not in table.columns:
            what = f"the table {name} has no column {column_name}"
            mend = meant_or_known(column_name, table.columns, lead="it has")
            yield Problem(f"{where}.columnspec[{number}].name", what, mend)
    for query, cql in _queries(profile).items():
        for what, mend in statement_faults(cql, known):
            yield Problem(f"{where}.queries.{query}.cql", f"{what}: {cql}", mend)


def unread_queries(given: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield a sentence on each query of a profile whose tables and columns only the database checks."""
    profile = given.get("profile")
    if isinstance(profile, dict):
        yield from unread(_queries(profile), tables(_schema(profile)))


def _schema(profile: Mapping[str, JsonValue]) -> list[str]:
    extra = profile.get("extra_definitions")
    definitions = (profile.get("table_definition"), *(extra if isinstance(extra, list) else ()))
    return [definition for definition in definitions if isinstance(definition, str)]


def _queries(profile: Mapping[str, JsonValue]) -> dict[str, str]:
    queries = profile.get("queries")
    items = queries.items() if isinstance(queries, dict) else ()
    return {name: cql for name, keys in items if isinstance(keys, dict) and isinstance(cql := keys.get("cql"), str)}


def _definition(where: str, profile: Mapping[str, JsonValue], key: str, kinds: Sequence[str]) -> Iterator[Problem]:
    statement, kind = profile.get(key), kinds[0].upper()
    if not isinstance(statement, str):
        yield Problem(f"{where}.{key}", f"is missing: a new cluster has no such {kinds[0]}", f"write `CREATE {kind} …`")
    elif words_of(statement)[:1] != ["create"] or words_of(statement)[1:2] not in [[word] for word in kinds]:
        yield Problem(f"{where}.{key}", f"is no CREATE {kind}: {statement}", f"begin it with CREATE {kind}")


def _generator(spec: LoadSpec) -> Iterator[Problem]:
    generator = spec.load_generator
    if generator.threads * generator.concurrency > _MOST_THREADS:
        queries = f"{generator.threads} threads × {generator.concurrency} queries in flight"
        what = f"{queries}: cassandra-stress has a thread of the operating system for each query in flight"
        yield Problem("load_generator.concurrency", what, f"make their product at most {_MOST_THREADS}")
