"""Check a definition's own tables and statements (`workload: {name: cql, …}`) without a database.

Statements are held against the tables in `schema`, and binds against the types of their columns. What is not recognized
here the load generator checks, by having the database prepare every statement before it populates.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.cql import Tables, created_table, tables, types, words_of
from plimsoll.adapters.cql.statements import schema_faults, statement_faults, table_faults, unread
from plimsoll.adapters.generators.plimsoll_stress.catalogue import catalogue, own_operations, share_of
from plimsoll.adapters.generators.plimsoll_stress.markers import fit_problems, marker_types, markers, range_problems
from plimsoll.adapters.generators.workload_options import option_problems
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.wording import meant_or_known

_NAME = re.compile(r"(?!intended-)[a-z][a-z0-9-]{0,39}")
_RESERVED = (ALL_OPERATIONS, "errors", "selects", "mutations")
"""Names that logs have for other things: for all operations, for failures, and for those of BasicTimeSeries."""
_BATCHED = ("insert", "update", "delete")
_LONGEST_SHOWN = 200
Keys = Mapping[str, JsonValue]


def own_statement_problems(given: Keys, *, has_other_tables: bool = False) -> Iterator[Problem]:
    """Yield everything wrong with `schema`, `operations` and `population`, each fault at its key.

    `has_other_tables`: the keyspace has tables that `schema` does not make.
    """
    faults = list(_schema(given))
    yield from faults
    known = None if faults or has_other_tables else tables(_schema_texts(given))
    operations = given.get("operations")
    if not isinstance(operations, list) or not operations:
        mend = "write `- {name: …, share: …, statement: …}`"
        yield Problem("workload.operations", "must be a list of operations", mend)
        return
    for number, operation in enumerate(operations):
        yield from _operation(f"workload.operations[{number}]", operation, known)
    yield from _together(own_operations(given))
    if given.get("population") is not None:
        yield from _population(given["population"], given.get("rows"), known)


def unread_statements(given: Keys) -> Iterator[str]:
    """Yield a sentence on each operation whose tables and columns only the database checks."""
    operations = own_operations(given)
    statements = {str(operation.get("name")): operation.get("statement") for operation in operations}
    yield from unread(statements, tables(_schema_texts(given)))


def schema_statements(given: Keys) -> Iterator[tuple[str, JsonValue]]:
    """Yield each statement of `schema`, which may be a list or a single one, with its key."""
    schema = given.get("schema")
    if isinstance(schema, list):
        yield from ((f"workload.schema[{number}]", statement) for number, statement in enumerate(schema))
    elif schema is not None:
        yield "workload.schema", schema


def _schema_texts(given: Keys) -> list[str]:
    return [statement for _, statement in schema_statements(given) if isinstance(statement, str)]


def _schema(given: Keys) -> Iterator[Problem]:
    own_types = types(_schema_texts(given))
    for where, statement in schema_statements(given):
        if not isinstance(statement, str):
            yield Problem(where, "must be the text of a statement", "write `CREATE TABLE IF NOT EXISTS …`")
        elif markers(statement):
            yield Problem(where, f"has a marker, {_at(statement, markers(statement)[0].place)}", "write it without")
        else:
            table = created_table(words_of(statement))
            for what, mend in (*schema_faults(statement), *(table_faults(table, own_types) if table else ())):
                yield Problem(where, f"{what}: {_shown(statement)}", mend)


def _operation(where: str, operation: JsonValue, known: Tables | None) -> Iterator[Problem]:
    if not isinstance(operation, dict):
        yield Problem(where, "must have keys of its own", "write `{name: …, share: …, statement: …}`")
        return
    yield from option_problems(where, "an operation", catalogue().operation, operation)
    name = operation.get("name")
    if isinstance(name, str) and (not _NAME.fullmatch(name) or name in _RESERVED):
        mend = f"small letters, digits and dashes; none of: {', '.join(_RESERVED)}, and not beginning with intended-"
        yield Problem(f"{where}.name", f"{name!r} can't be an operation's name", mend)
    yield from _batch(where, operation)
    yield from _statement(where, operation, known)


def _batch(where: str, operation: Keys) -> Iterator[Problem]:
    statement, is_batch = operation.get("statement"), operation.get("rows", 1) != 1
    if "batch" in operation and not is_batch:
        what = "an operation of one row is no batch"
        yield Problem(f"{where}.batch", what, "write how many with `rows`, or leave `batch` out")
    if is_batch and isinstance(statement, str) and not {*words_of(statement)[:1]} & {*_BATCHED}:
        what = f"only statements that write a row can be in a batch: {_shown(statement)}"
        yield Problem(f"{where}.rows", what, "begin it with INSERT, UPDATE or DELETE, or leave `rows` out")


def _population(population: JsonValue, rows: JsonValue, known: Tables | None) -> Iterator[Problem]:
    where = "workload.population"
    if not isinstance(population, dict):
        mend = "write `{statement: …, bind: …}`, and how many in `workload.rows`"
        yield Problem(where, "must have keys of its own", mend)
        return
    yield from option_problems(where, "population", catalogue().populate, population)
    yield from _statement(where, population, known)
    yield from _read_back(f"{where}.read_back", population, known)
    if not rows:
        yield Problem("workload.rows", "is missing: how many rows to populate", "write a count like 1M")


def _read_back(where: str, population: Keys, known: Tables | None) -> Iterator[Problem]:
    """Yield faults of reading back: its markers must be bound to values that only the row's number determines."""
    statement, bind = population.get("read_back"), population.get("bind") or {}
    if not isinstance(statement, str) or not isinstance(bind, dict):
        return
    yield from _text(where, statement, list(bind), known)
    for marker in markers(statement):
        value = bind.get(marker.name or "")
        if isinstance(value, dict) and value.get("distribution") != "sequence":
            what = f"the marker :{marker.name} is bound to no sequence, {_at(statement, marker.place)}"
            yield Problem(where, what, "ask for the row by markers that are sequences: others are drawn anew")


def _statement(where: str, keys: Keys, known: Tables | None) -> Iterator[Problem]:
    """Yield markers without bind, binds without a marker, and faults of the binds themselves and for their columns."""
    statement, bind = keys.get("statement"), keys.get("bind") or {}
    if not isinstance(bind, dict):
        mend = "write `{id: {distribution: uniform, max: 1M}}`"
        yield Problem(f"{where}.bind", "must have a key for each marker", mend)
        return
    if isinstance(statement, str):
        yield from _text(f"{where}.statement", statement, list(bind), known)
        named = {marker.name for marker in markers(statement)}
        for name in sorted(bind.keys() - named):
            what = f"the statement has no marker :{name}: {_shown(statement)}"
            yield Problem(f"{where}.bind.{name}", what, "remove it, or write the marker into the statement")
    yield from _alike(where, bind)
    types = marker_types(statement, known or {}) if isinstance(statement, str) else {}
    for name, value in bind.items():
        yield from _bind(f"{where}.bind.{name}", value, types.get(name))


def _alike(where: str, bind: Keys) -> Iterator[Problem]:
    """Yield names of markers that are one to the database, which reads them in small letters."""
    names = Counter(map(str.lower, bind))
    for name in bind:
        if names[name.lower()] > 1:
            what = f"the database does not tell :{name} from a marker with other capital letters"
            yield Problem(f"{where}.bind.{name}", what, "give one of them another name")


def _text(where: str, statement: str, bound: Sequence[str], known: Tables | None) -> Iterator[Problem]:
    """Yield faults of a statement's markers, else of the statement itself."""
    faults = list(_markers(where, statement, bound))
    yield from faults
    for what, mend in statement_faults(statement, known) if not faults else ():
        yield Problem(where, f"{what}: {_shown(statement)}", mend)


def _markers(where: str, statement: str, bound: Sequence[str]) -> Iterator[Problem]:
    for marker in markers(statement):
        at = _at(statement, marker.place)
        if marker.name is None:
            yield Problem(where, f"a quote or comment is opened and never closed, {at}", "close it")
        elif not marker.name:
            yield Problem(where, f"`?` has no name, {at}", "write `:name`, and what stands for it in `bind`")
        elif marker.name not in bound:
            mend = meant_or_known(marker.name, list(bound)) if bound else ""
            what = f"nothing is bound to the marker :{marker.name}, {at}"
            if marker.follows_key:
                mend = "if it is no marker, write a space behind the colon"
            yield Problem(where, what, mend or f"write `bind: {{{marker.name}: {{distribution: …}}}}`")


def _bind(where: str, value: JsonValue, type_: str | None) -> Iterator[Problem]:
    known = {kind.name: kind for kind in catalogue().distributions}
    if not isinstance(value, dict):
        yield Problem(where, "must have keys of its own", "write `{distribution: uniform, max: 1M}`")
        return
    name = value.get("distribution")
    if not isinstance(name, str) or name not in known:
        what = "`distribution` is missing" if name is None else f"{name!r} is no distribution"
        yield Problem(f"{where}.distribution", what, meant_or_known(str(name), list(known)))
        return
    parameters = {key: part for key, part in value.items() if key != "distribution"}
    options = (*known[name].parameters, *catalogue().bind)
    faults = list(option_problems(where, f"the distribution {name}", options, parameters))
    if not faults:
        faults = list(range_problems(where, value))
    if not faults and type_ is not None:
        faults = list(fit_problems(where, value, type_))
    yield from faults


def _together(operations: Sequence[Keys]) -> Iterator[Problem]:
    names = Counter(str(operation.get("name")) for operation in operations)
    for number, operation in enumerate(operations):
        name = str(operation.get("name"))
        if names[name] > 1:
            what = f"{name!r} stands {names[name]} times; each operation needs a name of its own"
            yield Problem(f"workload.operations[{number}].name", what, "change one")
    shares = [share for operation in operations if (share := share_of(operation)) is not None]
    if len(shares) == len(operations) and not math.isclose(sum(shares), 1, abs_tol=1e-6):
        yield Problem("workload.operations", f"the shares add up to {sum(shares):g}", "change them so that they make 1")


def _at(statement: str, position: str) -> str:
    return f"{position} of: {_shown(statement)}"


def _shown(statement: str) -> str:
    text = " ".join(statement.split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
