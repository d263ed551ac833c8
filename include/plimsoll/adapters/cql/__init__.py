"""CQL as far as definitions need it: words and signs of statements, and the tables that `CREATE TABLE` makes. Pure.

Only the database knows CQL. What is not recognized here passes, and is refused, if at all, when it is prepared.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

_KINDS = ("table", "columnfamily")
_AFTER_TYPE = ("static", "primary", "masked", "check", "not")
_SYNONYMS = {"varchar": "text", '"varchar"': "text"}

_WORD = re.compile(
    r"""(?:--[^\n]*|//[^\n]*|/\*.*?\*/|\s+)
    | (?P<word>'(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$ | :[A-Za-z]\w* | \w+ | [<>!]= | .)""",
    re.VERBOSE | re.DOTALL,
)

_NAME = re.compile(r'[a-z_]\w*|".*"', re.DOTALL)
_BESIDE_TABLE = ("into", "from", "update")
_OPENING, _CLOSING = "([{<", ")]}>"


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
    made: dict[str, Table] = {}
    for words in map(words_of, schema):
        if (table := created_table(words)) is not None:
            made[_named(words)] = table
        elif words[:3] == ["create", "materialized", "view"] or words[:2] == ["alter", "table"]:
            made[_named(words)] = Table(is_whole=False)
    return made


def types(schema: Sequence[str]) -> frozenset[str]:
    """Return the types that these statements make."""
    return frozenset(_named(words) for words in map(words_of, schema) if words[:2] == ["create", "type"])


def created_table(words: Sequence[str]) -> Table | None:
    """Return the table that a `CREATE TABLE` makes; None for any other statement."""
    if words[:1] != ["create"] or not {*words[1:2]} & {*_KINDS}:
        return None
    if "(" not in words:  # LIKE another
        return Table(is_whole=False)
    columns: dict[str, str] = {}
    listed = parts_of(words[words.index("(") + 1 :])
    key = [part for part in listed if part[:2] == ["primary", "key"]]
    for part in listed:
        if len(part) > 1 and part[:2] != ["primary", "key"]:
            of_type = takewhile(lambda word: word not in _AFTER_TYPE, part[1:])
            type_ = re.sub(r"(?<=[^\w ]) | (?=[^\w])", "", " ".join(of_type))
            columns[name_of(part[0])] = _SYNONYMS.get(type_, type_)
            key += [["primary", "key", "(", part[0], ")"]] if "primary" in part else []
    parts = parts_of(key[0][3:]) if key else []
    first = parts_of(parts[0][1:]) if parts and parts[0][:1] == ["("] else parts[:1]
    partition_key = tuple(name_of(part[0]) for part in first if part)
    rest = [name_of(part[0]) for part in parts[1:] if part]
    is_whole = all(is_name(part[0]) for part in listed if part)
    return Table(columns, partition_key, (*partition_key, *rest), is_whole)


def _named(words: Sequence[str]) -> str:
    """Return the name of what a statement makes or changes, without its keyspace."""
    start = next(position for position, word in enumerate(words) if word in (*_KINDS, "view", "type")) + 1
    while words[start : start + 1] and words[start] in ("if", "not", "exists"):
        start += 1
    names = words[start : start + 3]
    return name_of(names[2] if names[1:2] == ["."] and len(names) > 2 else names[0]) if names else ""


def words_of(statement: str) -> list[str]:
    """Return words in small letters, names in quotes as they are, and signs; without `{keyspace}.`, the load's own."""
    words = (match["word"] for match in _WORD.finditer(statement.replace("{keyspace}.", "")) if match["word"])
    return [word if word[0] in "'\"$:" else word.lower() for word in words]


def parts_of(words: Sequence[str]) -> list[list[str]]:
    """Return the parts between commas, up to the bracket that closes them."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word in _OPENING) - (word in _CLOSING)
        if depth < 0:
            break
        if word == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def inserted(words: Sequence[str]) -> tuple[list[list[str]], list[list[str]]] | None:
    """Return the columns and the values of an INSERT; None for any other statement, and without both."""
    if words[:2] != ["insert", "into"] or "(" not in words:
        return None
    names = parts_of(words[words.index("(") + 1 :])
    # VALUES is looked for behind the columns, one of which may have that name.
    rest = words[words.index("(") + sum(map(len, names)) + len(names) + 1 :]
    return (names, parts_of(rest[2:])) if rest[:2] == ["values", "("] else None


def is_name(word: str) -> bool:
    """Tell whether a word can be the name of a column."""
    return _NAME.fullmatch(word) is not None


def name_of(word: str) -> str:
    """Return a name in quotes without them."""
    return word[1:-1].replace('""', '"') if word.startswith('"') else word


def table_of(words: Sequence[str]) -> str:
    """Return the table that a statement is about, without its keyspace; empty where none is found."""
    return name_of(_path(words)[-1]) if _path(words) else ""


def keyspace_of(words: Sequence[str]) -> str:
    """Return the keyspace before that table; empty without one."""
    return name_of(_path(words)[0]) if len(_path(words)) > 1 else ""


def _path(words: Sequence[str]) -> list[str]:
    """Return the table's name, with its keyspace before it where that is written."""
    for position, word in enumerate(words[:-1]):
        if word in _BESIDE_TABLE:
            has_keyspace = words[position + 2 : position + 3] == ["."] and len(words) > position + 3
            return [words[position + 1], words[position + 3]] if has_keyspace else [words[position + 1]]
    return []
