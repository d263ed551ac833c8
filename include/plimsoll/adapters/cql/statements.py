"""Find statements that no database of CQL accepts: misspelt, or of tables and columns that its schema does not make.

Pure, and careful: what is not recognized passes.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import dropwhile, pairwise, takewhile

from pydantic import JsonValue

from plimsoll.adapters.cql import (
    Table,
    Tables,
    inserted,
    is_name,
    keyspace_of,
    name_of,
    parts_of,
    table_of,
    words_of,
)
from plimsoll.domain.text.wording import meant, meant_or_known, nearest, plural

_QUERIES = ("select", "insert", "update", "delete", "begin", "truncate")
_CHANGES = (
    *("create", "alter", "drop", "grant", "revoke", "list"),
    *("use", "describe", "desc", "add", "comment", "security"),
)
# PRUNE, and below BYPASS CACHE and USING TIMEOUT behind a SELECT, are ScyllaDB's
_VERBS = (*_QUERIES, *_CHANGES, "prune")
_NEEDED = {"select": ("from",), "insert": ("into",), "update": ("set", "where"), "delete": ("from", "where")}
"""The words without which no statement of that kind is complete, in their order."""
_AFTER_TABLE = {
    "select": ("where", "group", "order", "per", "limit", "allow", "using", "bypass", "with"),
    "update": ("using", "set"),
    "delete": ("using", "where"),
}
_OPERATORS = ("=", "<", ">", "<=", ">=", "!=", "in", "contains", "like", "between", "is", "not", "[", ".")
_CLAUSES = ("where", "group", "order", "per", "limit", "allow", "if", "using", "bypass", ";")
_TYPES = (
    *("ascii", "bigint", "blob", "boolean", "counter", "date", "decimal", "double", "duration", "float", "inet"),
    *("int", "smallint", "text", "time", "timestamp", "timeuuid", "tinyint", "uuid", "varchar", "varint"),
)
# Some are names of CQL, too, but not with a length: varchar(20)
_OF_OTHERS = {
    **dict.fromkeys(("string", "char", "varchar", "varchar2", "text", "clob", "json", "jsonb"), "text"),
    **dict.fromkeys(("integer", "int4"), "int"),
    **dict.fromkeys(("long", "int8", "serial", "bigserial"), "bigint"),
    **dict.fromkeys(("numeric", "number"), "decimal"),
    **{"bool": "boolean", "datetime": "timestamp", "bytea": "blob", "binary": "blob", "real": "float"},
}
"""Types of other databases → CQL's."""
_KINDS = (
    *("table", "columnfamily", "index", "type", "materialized", "custom", "function", "aggregate", "trigger"),
    *("role", "user", "keyspace", "schema", "or"),
)
Fault = tuple[str, str]
"""What is wrong, and how to mend it."""


def statement_faults(statement: str, known: Tables | None) -> Iterator[Fault]:
    """Yield what is wrong with a statement of a load. `known`: the tables that there are; None where nobody knows."""
    words, faults = _checked(statement)
    yield from faults
    if faults:
        return
    verb = words[0]
    if missing := [word for word in _NEEDED.get(verb, ()) if word not in words]:
        needed = missing[0].upper()
        misspelt = nearest(missing[0], [word for word in words[1:] if word.isalpha()])
        yield (
            f"{verb.upper()} without {needed}",
            f"write {needed} for {misspelt.upper()}" if misspelt else f"write {needed}",
        )
    elif verb in (*_NEEDED, "truncate"):
        yield from _of_form(verb, words)
        yield from _of_tables(verb, words, known)


def unread(statements: Mapping[str, JsonValue], known: Tables) -> Iterator[str]:
    """Yield a sentence on each operation, name → statement, whose tables and columns the database alone checks."""
    for name, statement in statements.items():
        words, faults = _checked(statement) if isinstance(statement, str) else ((), [])
        table = known.get(table_of(words))
        is_read = words and words[0] in _NEEDED and not keyspace_of(words) and table is not None and table.is_whole
        if words and not faults and not is_read:
            yield f"tables and columns of {name} are not checked here, only when the database prepares its statement"


def schema_faults(statement: str) -> Iterator[Fault]:
    """Yield what is wrong with a statement that makes tables in a keyspace that is there already."""
    words, faults = _checked(statement)
    yield from faults
    if faults:
        return
    if words[0] == "use" or words[1:2] in (["keyspace"], ["schema"]):
        what = f"{words[0].upper()} {words[1].upper()}" if words[0] != "use" else "USE"
        mend = "remove it: the keyspace is made before, with `replication_factor`, and is in use; name tables alone"
        yield f"{what} stands in it", mend
    elif words[0] == "create":
        kind = words[1] if len(words) > 1 else ""
        if kind not in _KINDS and (guess := nearest(kind, _KINDS)):
            yield f"CREATE {kind.upper()} is no CQL", f"did you mean CREATE {guess.upper()}?"


def table_faults(table: Table, own_types: Collection[str]) -> Iterator[Fault]:
    """Yield what is wrong with a table's columns and key. `own_types`: those that the schema itself makes."""
    if not table.is_whole:
        return
    if not table.key:
        yield "the table has no PRIMARY KEY", "write `PRIMARY KEY` behind a column, or `PRIMARY KEY (…)` as last"
    for name in table.key:
        if name not in table.columns:
            yield f"PRIMARY KEY names {name}, which is no column", meant_or_known(name, table.columns, lead="there are")
    for name, type_ in table.columns.items():
        # Types with <…> or in quotes are left to the database, which may have more of them
        if re.fullmatch(r"[\w ()]*", type_) and type_ not in (*_TYPES, *own_types):
            other = _OF_OTHERS.get(type_.partition("(")[0])
            mend = f"write {other}" if other else meant(type_, (*_TYPES, *own_types))
            what = f"the type {type_}, which there is not" if type_ else "no type"
            yield f"column {name} has {what}", mend or "write one of CQL's, or make it before with CREATE TYPE"


def _checked(statement: str) -> tuple[Sequence[str], list[Fault]]:
    """Return a statement's words without the end sign, and what is wrong with any statement that is like this."""
    words = words_of(statement)
    while words[-1:] == [";"]:
        words.pop()
    return words, list(_of_any(words))


def _of_any(words: Sequence[str]) -> Iterator[Fault]:
    if not words:
        yield "is empty", "write a statement of CQL"
    elif words[0] not in _VERBS:
        first, known = words[0].upper(), [query.upper() for query in _QUERIES]
        yield f"begins with {first}, as no statement of CQL does", meant_or_known(first, known)
    elif ";" in words and words[0] != "begin":  # A batch has several statements
        yield "a second statement follows after `;`", "write each by itself"
    else:
        for opening, closing in ("()", "[]", "{}"):
            if words.count(opening) != words.count(closing):
                opened, closed = plural(words.count(opening), "time"), plural(words.count(closing), "time")
                yield f"{opened} `{opening}` and {closed} `{closing}`", "open and close each bracket"


def _of_form(verb: str, words: Sequence[str]) -> Iterator[Fault]:
    if verb == "insert":
        yield from _of_insert(words)
    elif words[1:2] == ["*"] and verb == "delete":
        yield "DELETE * is no CQL", "write DELETE FROM"
    after = _AFTER_TABLE.get(verb, ())
    following = _behind_table(words)
    if after and is_name(following) and following not in after:
        mend = meant(following.upper(), [word.upper() for word in after])
        yield f"{following.upper()} stands behind the table", mend or "CQL has no other names of a table, and no JOIN"
    if any(pair == ("=", "=") for pair in pairwise(words)):
        yield "`==` is no CQL", "write ="
    if "offset" in words and "limit" in words[: words.index("offset")]:
        yield "OFFSET stands behind LIMIT, which CQL does not have", "page by the key: WHERE … > the last row's"
    if "where" in words and "or" in words[words.index("where") :]:
        yield "OR stands in WHERE, which CQL does not have", "write IN (…), or an operation for each"


def _of_insert(words: Sequence[str]) -> Iterator[Fault]:
    if both := inserted(words):
        columns, values = map(len, both)
        if columns != values:
            yield f"{plural(columns, 'column')} and {plural(values, 'value')}", "write as many of both"
    elif "json" not in words:
        yield "INSERT without columns and VALUES", "write INSERT INTO table (column, …) VALUES (…)"


def _of_tables(verb: str, words: Sequence[str], known: Tables | None) -> Iterator[Fault]:
    name = table_of(words)
    if known is None or not name or keyspace_of(words):
        return
    table = known.get(name)
    if table is None:
        yield f"`schema` makes no table {name}", meant_or_known(name, known, lead="it makes") or "write `schema`"
    elif table.is_whole:
        for column in dict.fromkeys(map(name_of, _columns(verb, words))):
            if column not in table.columns:
                yield f"the table {name} has no column {column}", meant_or_known(column, table.columns, lead="it has")
        yield from _of_key(verb, words, table)


def _of_key(verb: str, words: Sequence[str], table: Table) -> Iterator[Fault]:
    """Yield columns of the key that a write leaves open, or changes."""
    if both := inserted(words):
        named = {name_of(part[0]) for part in both[0] if part}
    elif verb in ("update", "delete"):
        named = {name_of(word) for word in _compared(words[words.index("where") :])}
    else:
        return
    for column in table.partition_key:
        if column not in named:
            yield f"{verb.upper()} leaves {column} open, which is part of the key", f"give {column} a value"
    for column in map(name_of, _assigned(words) if verb == "update" else ()):
        if column in table.key:
            yield f"UPDATE sets {column}, which is part of the key", "name it in WHERE alone"


def _columns(verb: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the names in a statement that can be nothing but columns of its table."""
    if verb == "insert":
        yield from (part[0] for part in (inserted(words) or ([],))[0] if len(part) == 1)
    elif verb == "update":
        yield from _assigned(words)
    elif verb in ("select", "delete"):
        yield from _selected(words[1 : words.index("from")], is_query=verb == "select")
    for clause in ("where", "if"):
        if clause in words:
            yield from _compared(words[words.index(clause) :])
    yield from _ordering(words)


def _ordering(words: Sequence[str]) -> Iterator[str]:
    for position, word in enumerate(words[:-1]):
        if word in ("order", "group") and words[position + 1] == "by":
            for part in parts_of(_until_clause(words[position + 2 :])):
                if part and part[1:2] != ["("] and is_name(part[0]):
                    yield part[0]


def _selected(words: Sequence[str], *, is_query: bool) -> Iterator[str]:
    # A column may be called `json` or `distinct`, and then a comma, AS or nothing follows
    while is_query and words[:1] in (["json"], ["distinct"]) and words[1:2] not in ([], [","], ["as"]):
        words = words[1:]
    for part in parts_of(words):
        is_alone = len(part) == 1 or part[1:2] == ["as"] or (not is_query and part[1:2] in (["["], ["."]))
        if part and is_alone and is_name(part[0]):
            yield part[0]


def _assigned(words: Sequence[str]) -> Iterator[str]:
    for part in parts_of(_until_clause(words[words.index("set") + 1 :])):
        if part and is_name(part[0]):
            yield part[0]


def _compared(words: Sequence[str]) -> Iterator[str]:
    for position, word in enumerate(words[1:-1], start=1):
        if words[position - 1] in ("where", "and", "if") and words[position + 1] in _OPERATORS and is_name(word):
            yield word


def _until_clause(words: Sequence[str]) -> Sequence[str]:
    return list(takewhile(lambda word: word not in _CLAUSES, words))


def _behind_table(words: Sequence[str]) -> str:
    """Return the word behind the table's name; empty without one."""
    name = table_of(words)
    rest = dropwhile(lambda word: word not in ("from", "update"), words)
    return next((word for before, word in pairwise(rest) if name and name_of(before) == name), "")
