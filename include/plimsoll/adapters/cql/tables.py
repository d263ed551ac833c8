"""The tables that a definition's own `CREATE TABLE` statements make. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.adapters.cql.words import is_name, name_of, parts_of, words_of

_KINDS = ("table", "columnfamily")
_AFTER_TYPE = ("static", "primary", "masked", "check", "not")
_SYNONYMS = {"varchar": "text", '"varchar"': "text"}


@dataclass(frozen=True)
class Table:
    """A table's columns with their types, and those of its partition key and its whole primary key.

    All are written as the database names them: small letters, except for what is in double quotes. `is_whole` is False
    for a table whose columns no statement lists.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    partition_key: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    is_whole: bool = True


Tables = Mapping[str, Table]


def tables(schema: Sequence[str]) -> Tables:
    """Return the tables and views that these statements make."""
    found: dict[str, Table] = {}
    for statement in schema:
        words = words_of(statement)
        if (table := created_table(words)) is not None:
            found[_named(words)] = table
        elif words[:3] == ["create", "materialized", "view"] or words[:2] == ["alter", "table"]:
            found[_named(words)] = Table(is_whole=False)
    return found


def types(schema: Sequence[str]) -> frozenset[str]:
    """Return the types that these statements make."""
    made = [words for words in map(words_of, schema) if words[:2] == ["create", "type"]]
    return frozenset(_named(words) for words in made)


def created_table(words: Sequence[str]) -> Table | None:
    """Return the table that a `CREATE TABLE` makes; None for any other statement."""
    if words[:1] != ["create"] or not {*words[1:2]} & {*_KINDS}:
        return None
    if "(" not in words:  # LIKE another
        return Table(is_whole=False)
    columns: dict[str, str] = {}
    key = [part for part in _columns(words) if part[:2] == ["primary", "key"]]
    for part in _columns(words):
        if len(part) > 1 and part[:2] != ["primary", "key"]:
            type_ = re.sub(r"(?<=[^\w ]) | (?=[^\w])", "", " ".join(_until(part[1:], _AFTER_TYPE)))
            columns[name_of(part[0])] = _SYNONYMS.get(type_, type_)
            key += [["primary", "key", "(", part[0], ")"]] if "primary" in part else []
    parts = parts_of(key[0][3:]) if key else []
    partition = parts_of(parts[0][1:]) if parts and parts[0][:1] == ["("] else parts[:1]
    first, rest = ([name_of(one[0]) for one in some if one] for some in (partition, parts[1:]))
    return Table(columns, tuple(first), (*first, *rest), all(is_name(part[0]) for part in _columns(words) if part))


def _columns(words: Sequence[str]) -> list[list[str]]:
    return parts_of(words[words.index("(") + 1 :])


def _named(words: Sequence[str]) -> str:
    """Return the name of what a statement makes or changes, without its keyspace."""
    start = next(place for place, word in enumerate(words) if word in (*_KINDS, "view", "type")) + 1
    while words[start : start + 1] and words[start] in ("if", "not", "exists"):
        start += 1
    names = words[start : start + 3]
    return name_of(names[2] if names[1:2] == ["."] and len(names) > 2 else names[0]) if names else ""


def _until(words: Sequence[str], ends: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word in ends:
            return
        yield word
