"""Find the types of a statement's markers from the `CREATE TABLE` statements of a definition. Pure.

Only the database knows CQL. What is not recognized here has no type, and is checked when the database prepares it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

Tables = Mapping[str, Mapping[str, str]]
"""Table → column → type, all as the database names them: small letters, except for what is in double quotes."""
LIMIT = "limit"
"""The type of a marker behind LIMIT: an int above 0."""
_AFTER_WORD = {"limit": LIMIT, "ttl": "int", "timestamp": "bigint"}
_BESIDE_TABLE = ("into", "from", "update")
_OPERATORS = ("=", "<", ">", "<=", ">=")
_SYNONYMS = {"varchar": "text", '"varchar"': "text"}

_WORD = re.compile(
    r"""(?:--[^\n]*|//[^\n]*|/\*.*?\*/|\s+)
    | (?P<word>'(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$ | :[A-Za-z]\w* | \w+ | [<>]= | .)""",
    re.VERBOSE | re.DOTALL,
)


def tables(schema: Sequence[str]) -> Tables:
    """Return the tables that these statements create, with the types of their columns."""
    return dict(found for statement in schema for found in _created(words_of(statement)))


def marker_types(statement: str, known: Tables) -> dict[str, str]:
    """Return marker → type, for the markers that stand for a column of a known table, or behind LIMIT, TTL or
    TIMESTAMP.
    """
    words = words_of(statement)
    columns = known.get(_table(words), {})
    types = dict(_inserted(words, columns))
    for place, word in enumerate(words):
        if word.startswith(":") and (found := _type_at(words, place, columns)):
            types.setdefault(word[1:], found)
    return types


def words_of(statement: str) -> list[str]:
    """Return words in small letters, names in quotes as they are but without quotes that change nothing, and signs."""
    found = (match["word"] for match in _WORD.finditer(statement) if match["word"])
    return [word if word[0] in "'\"$:" else word.lower() for word in found]


def _created(words: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    if words[:2] != ["create", "table"] or "(" not in words:
        return
    opening = words.index("(")
    columns = {}
    for part in _split(words[opening + 1 :]):
        if len(part) > 1 and part[:2] != ["primary", "key"]:
            type_ = "".join(_until(part[1:], ("static", "primary")))
            columns[_name(part[0])] = _SYNONYMS.get(type_, type_)
    yield _name(words[opening - 1]), columns


def _inserted(words: Sequence[str], columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the markers in VALUES of an INSERT, each alone at its column's place."""
    if words[:2] != ["insert", "into"] or "values" not in words or "(" not in words:
        return
    values = words.index("values")
    names, given = _split(words[words.index("(") + 1 : values]), _split(words[values + 2 :])
    for name, value in zip(names, given, strict=False):
        if len(name) == len(value) == 1 and value[0].startswith(":") and _name(name[0]) in columns:
            yield value[0][1:], columns[_name(name[0])]


def _type_at(words: Sequence[str], place: int, columns: Mapping[str, str]) -> str | None:
    """Return the type of the marker in `column = :m`, `column IN (…, :m)`, `column IN :m`, `column = column + :m` or
    `LIMIT :m`.
    """
    before = list(words[:place])
    if before and before[-1] in _AFTER_WORD:
        return _AFTER_WORD[before[-1]]
    if before[-1:] in (["+"], ["-"]):
        return columns.get(_name(before[-2])) if len(before) > 1 else None
    if before[-1:] == ["in"]:
        column = columns.get(_name(before[-2])) if len(before) > 1 else None
        return column and f"list<{column}>"
    while before and (before[-1] in ("(", ",") or before[-1].startswith(":")):
        before.pop()
    if len(before) > 1 and before[-1] in ("in", *_OPERATORS):
        return columns.get(_name(before[-2]))
    return None


def _table(words: Sequence[str]) -> str:
    """Return the table that a statement is about, without its keyspace; empty where none is found."""
    for place, word in enumerate(words[:-1]):
        if word in _BESIDE_TABLE:
            has_keyspace = words[place + 2 : place + 3] == ["."] and len(words) > place + 3
            return _name(words[place + 3 if has_keyspace else place + 1])
    return ""


def _split(words: Sequence[str]) -> list[list[str]]:
    """Return the parts between commas, up to the bracket that closes them."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word in ("(", "<")) - (word in (")", ">"))
        if depth < 0:
            break
        if word == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _until(words: Sequence[str], ends: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word in ends:
            return
        yield word


def _name(word: str) -> str:
    """Return a name in quotes without them."""
    return word[1:-1].replace('""', '"') if word.startswith('"') else word
