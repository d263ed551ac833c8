"""Refuse own statements that would change what is not a load's own, in a database that somebody else runs, and those
of keyspaces that a new cluster does not have. Pure.

This guards against mistakes. The rights of the user who logs in are the guard against everything else.
"""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from plimsoll.adapters.cql.words import words_of
from plimsoll.adapters.generators.plimsoll_stress.command import KEYSPACE
from plimsoll.adapters.generators.plimsoll_stress.sized_rows import OWN_STATEMENTS
from plimsoll.adapters.generators.workload_options import given_options
from plimsoll.domain.errors import Problem
from plimsoll.domain.load_spec import LoadSpec

_READS, _WRITES, _TABLES = ("select",), ("insert", "update", "delete", "begin"), ("create",)
_MADE = ("table", "index", "custom", "type", "materialized")
_BEFORE_NAMES = ("from", "into", "update", "table", "exists", "type", "view")


def foreign_keyspace_problems(spec: LoadSpec) -> Iterator[Problem]:
    """Yield each statement that a load may not send to that cluster, or that its keyspaces can't answer."""
    if spec.owns == "cluster":
        yield from _new_cluster_problems(spec)
        return
    given, is_read_only = given_options(spec.workload), spec.owns == "nothing"
    if spec.workload.name != OWN_STATEMENTS:
        if is_read_only:
            what = f"{spec.workload.name} writes rows of its own, and the keyspace is to be read only"
            mend = f"write `name: {OWN_STATEMENTS}` and the statements to read with, or let Plimsoll make a keyspace"
            yield Problem("workload.name", what, mend)
        return
    for key in ("schema", "population") if is_read_only else ():
        if given.get(key):
            yield Problem(f"workload.{key}", "writes, and the keyspace is to be read only", "remove it")
    for where, statement in _statements(given):
        words = words_of(statement)
        yield from _kind(where, words, is_read_only=is_read_only)
        if (name := _foreign_name(words)) and not is_read_only:
            what = f"names the keyspace {name}, which is not the load's own"
            yield Problem(where, what, "write the table's name alone, or `{keyspace}.` before it")


def _new_cluster_problems(spec: LoadSpec) -> Iterator[Problem]:
    given = given_options(spec.workload) if spec.workload.name == OWN_STATEMENTS else {}
    for where, statement in _statements(given):
        name = _foreign_name(words_of(statement))
        if name and name != KEYSPACE and not name.startswith("system"):
            what = f"names the keyspace {name}, which a new cluster does not have"
            yield Problem(where, what, "write the table's name alone, or `{keyspace}.` before it")


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
    for place in range(1, len(words) - 1):
        if words[place - 1] in before and words[place + 1] == ".":
            return words[place]
    return ""


def _statements(given: dict[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield every statement of the workload with its key."""
    schema, operations, population = given.get("schema"), given.get("operations"), given.get("population")
    for number, statement in enumerate(schema if isinstance(schema, list) else [schema]):
        if isinstance(statement, str):
            yield f"workload.schema[{number}]" if isinstance(schema, list) else "workload.schema", statement
    listed = operations if isinstance(operations, list) else []
    places = [(f"workload.operations[{number}]", one) for number, one in enumerate(listed)]
    for where, keys in (*places, ("workload.population", population)):
        for key in ("statement", "read_back"):
            if isinstance(keys, dict) and isinstance(keys.get(key), str):
                yield f"{where}.{key}", str(keys[key])
