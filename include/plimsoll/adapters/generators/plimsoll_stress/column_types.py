"""Find the types of a statement's markers from the `CREATE TABLE` statements of a definition. Pure.

Only the database knows CQL. What is not recognized here has no type, and is checked when the database prepares it.
"""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.adapters.cql.tables import Table, Tables
from plimsoll.adapters.cql.words import inserted, name_of, table_of, words_of

LIMIT = "limit"
"""The type of a marker behind LIMIT: an int above 0."""
_AFTER_WORD = {"limit": LIMIT, "ttl": "int", "timestamp": "bigint"}
_OPERATORS = ("=", "<", ">", "<=", ">=", "!=")


def marker_types(statement: str, known: Tables) -> dict[str, str]:
    """Return marker → type, for the markers that stand for a column of a known table, or behind LIMIT, TTL or
    TIMESTAMP.
    """
    words = words_of(statement)
    columns = known.get(table_of(words), Table()).columns
    types = dict(_inserted(words, columns))
    for place, word in enumerate(words):
        if word.startswith(":") and (found := _type_at(words, place, columns)):
            types.setdefault(word[1:], found)
    return types


def _inserted(words: Sequence[str], columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the markers in VALUES of an INSERT, each alone at its column's place."""
    names, given = inserted(words) or ((), ())
    for name, value in zip(names, given, strict=False):
        if len(name) == len(value) == 1 and value[0].startswith(":") and name_of(name[0]) in columns:
            yield value[0][1:], columns[name_of(name[0])]


def _type_at(words: Sequence[str], place: int, columns: Mapping[str, str]) -> str | None:
    """Return the type of the marker in `column = :m`, `column IN (…, :m)`, `column IN :m`, `column = column + :m` or
    `LIMIT :m`.
    """
    before = list(words[:place])
    if before and before[-1] in _AFTER_WORD:
        return _AFTER_WORD[before[-1]]
    if before[-1:] in (["+"], ["-"]):
        return columns.get(name_of(before[-2])) if len(before) > 1 else None
    if before[-1:] == ["in"]:
        column = columns.get(name_of(before[-2])) if len(before) > 1 else None
        return column and f"list<{column}>"
    while before and (before[-1] in ("(", ",") or before[-1].startswith(":")):
        before.pop()
    if len(before) > 1 and before[-1] in ("in", *_OPERATORS):
        return columns.get(name_of(before[-2]))
    return None
