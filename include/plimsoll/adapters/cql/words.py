"""The words and signs of CQL statements. Pure."""

import re
from collections.abc import Sequence

_WORD = re.compile(
    r"""(?:--[^\n]*|//[^\n]*|/\*.*?\*/|\s+)
    | (?P<word>'(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$ | :[A-Za-z]\w* | \w+ | [<>!]= | .)""",
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r'[a-z_]\w*|".*"', re.DOTALL)
_BESIDE_TABLE = ("into", "from", "update")
_OPENING, _CLOSING = "([{<", ")]}>"


def words_of(statement: str) -> list[str]:
    """Return words in small letters, names in quotes as they are, and signs. `{keyspace}.`, which stands for the load's
    own keyspace, is left out.
    """
    found = (match["word"] for match in _WORD.finditer(statement.replace("{keyspace}.", "")) if match["word"])
    return [word if word[0] in "'\"$:" else word.lower() for word in found]


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
    for place, word in enumerate(words[:-1]):
        if word in _BESIDE_TABLE:
            has_keyspace = words[place + 2 : place + 3] == ["."] and len(words) > place + 3
            return [words[place + 1], words[place + 3]] if has_keyspace else [words[place + 1]]
    return []
