"""Statements are held against the tables that a schema makes; what CQL may know better passes."""

import pytest

from plimsoll.adapters.cql import created_table, tables, types, words_of
from plimsoll.adapters.cql.statements import schema_faults, statement_faults, table_faults, unread

SCHEMA = [
    "CREATE TYPE IF NOT EXISTS full_name (first text, last text)",
    'CREATE TABLE people (id bigint PRIMARY KEY, "Born" date, name frozen<full_name>, tags set<text>, note varchar)',
    "create table if not exists {keyspace}.events (page text, day int, at timeuuid, owner text static, body blob, "
    "count counter, values list<int>, PRIMARY KEY ((page, day), at)) WITH CLUSTERING ORDER BY (at DESC) AND ttl = 5",
    "CREATE TABLE notes (id int, v vector<float, 3>, s text MASKED WITH DEFAULT, home 'org.x.Point', PRIMARY KEY (id))",
    "CREATE INDEX IF NOT EXISTS ON people (note)",
    "CREATE MATERIALIZED VIEW by_note AS SELECT * FROM people WHERE note IS NOT NULL PRIMARY KEY (note, id)",
    "ALTER TABLE notes ADD later text",
]
KNOWN = tables(SCHEMA)

VALID = [
    "SELECT * FROM people WHERE id = :id;",
    'SELECT JSON "Born", note AS n FROM people WHERE id IN (1, 2) PER PARTITION LIMIT 1 LIMIT :l ALLOW FILTERING',
    "select distinct page, day from events",
    "SELECT count(*), max(at), CAST(day AS text), writetime(body), blobAsText(body) FROM events GROUP BY page, day",
    "SELECT name.first, ttl(note) FROM people",
    "SELECT * FROM events WHERE token(page, day) > token(:p, 4) AND at > maxTimeuuid('2013-01-01 00:05+0000')",
    "SELECT * FROM events WHERE page = 'a;b' AND day = 1 AND (at) > (:a) ORDER BY at DESC",
    "SELECT * FROM {keyspace}.events WHERE page = :p AND day = :d AND at >= :from AND at < :to BYPASS CACHE",
    "SELECT * FROM people WHERE tags CONTAINS 'x' AND note LIKE '%y' ALLOW FILTERING USING TIMEOUT 5s",
    "SELECT id FROM notes ORDER BY v ANN OF [0.1, 0.2, 0.3] LIMIT 3",
    "SELECT later, anything FROM notes WHERE id = 1",  # of a table that ALTER changes nothing is known
    "SELECT whatever FROM by_note WHERE note = 'x'",
    "SELECT host_id FROM system.local",
    "INSERT INTO people (id, tags, name) VALUES (:id, {'a', 'b'}, {first: 'x', last: 'y'}) IF NOT EXISTS USING TTL 5",
    "INSERT INTO people JSON '{\"id\": 1}' DEFAULT UNSET",
    "INSERT INTO events (page, day, at, values) VALUES ('a', 1, now(), [1, 2, 3])",
    "INSERT INTO events (page, day, owner) VALUES ('a', 1, $$it's (mine$$)",
    "UPDATE people USING TTL :t AND TIMESTAMP :s SET tags = tags + {'a'}, note = null WHERE id = 1 IF note = 'x'",
    "UPDATE people SET name.first = 'x' WHERE id = 1 IF EXISTS",
    "UPDATE events SET values[2] = 4, count = count + 1 WHERE page = 'a' AND day IN (1, 2) AND at = :at",
    "DELETE note, tags['a'] FROM people USING TIMESTAMP 5 WHERE id = 1 IF \"Born\" > '2000-01-01' AND note != 'x'",
    "DELETE FROM events WHERE page = 'a' AND day = 1 AND at < :at",
    "BEGIN UNLOGGED BATCH INSERT INTO people (id) VALUES (1); DELETE FROM people WHERE id = 2; APPLY BATCH;",
    "TRUNCATE TABLE people",
    "TRUNCATE people",
    "-- first\nSELECT /* all */ * FROM people // of them\nWHERE id = 1",
]


@pytest.mark.parametrize("statement", VALID)
def test_valid_statements_pass(statement: str) -> None:
    assert list(statement_faults(statement, KNOWN)) == []
    assert list(statement_faults(statement, None)) == []


@pytest.mark.parametrize(
    ("statement", "what", "mend"),
    [
        ("SELET * FROM people", "begins with SELET, as no statement of CQL does", "did you mean 'SELECT'?"),
        ("", "is empty", ""),
        ("SELECT * FORM people", "SELECT without FROM", "write FROM for FORM"),
        ("SELECT * FROM people WEHRE id = 1", "WEHRE stands behind the table", "did you mean 'WHERE'?"),
        ("SELECT * FROM peple WHERE id = 1", "`schema` makes no table peple", "did you mean 'people'?"),
        ("SELECT nmae FROM people", "the table people has no column nmae", "did you mean 'name'?"),
        ("SELECT note FROM people WHERE ident = 1", "the table people has no column ident", "it has: id"),
        ("SELECT born FROM people", "the table people has no column born", "did you mean 'Born'?"),
        ("SELECT * FROM people ORDER BY age", "the table people has no column age", "it has: id"),
        ("SELECT * FROM people p WHERE p.id = 1", "P stands behind the table", "CQL has no other names of a table"),
        ("SELECT * FROM people JOIN notes ON a.b = c.d", "JOIN stands behind the table", "and no JOIN"),
        ("SELECT * FROM people LIMIT 5 OFFSET 5", "OFFSET stands behind LIMIT", "page by the key"),
        ("SELECT * FROM people WHERE id == 1", "`==` is no CQL", "write ="),
        ("SELECT * FROM people WHERE id = 1 OR id = 2", "OR stands in WHERE", "write IN"),
        ("SELECT * FROM people WHERE id IN (1, 2", "1 time `(` and 0 times `)`", "open and close"),
        ("SELECT * FROM people; SELECT * FROM events", "a second statement follows", "write each by itself"),
        ("INSERT INTO people (id, note) VALUES (:id)", "2 columns and 1 value", "write as many of both"),
        ("INSERT INTO people (id, note) (1, 2)", "INSERT without columns and VALUES", "VALUES (…)"),
        ("INSERT INTO people (id, text) VALUES (1, 2)", "the table people has no column text", ""),
        ("INSERT INTO events (page, at) VALUES (1, 2)", "INSERT leaves day open, which is part of the key", ""),
        ("UPDATE people SET note = 'x'", "UPDATE without WHERE", "write WHERE"),
        ("UPDATE people SET nota = 'x' WHERE id = 1", "the table people has no column nota", "did you mean 'note'?"),
        ("UPDATE events SET at = now() WHERE page = 'a' AND day = 1", "UPDATE sets at, which is part of the key", ""),
        ("DELETE * FROM people WHERE id = 1", "DELETE * is no CQL", "write DELETE FROM"),
        ("DELETE FROM events WHERE page = 'a'", "DELETE leaves day open, which is part of the key", ""),
    ],
)
def test_a_mistake_is_told_with_what_is_meant(statement: str, what: str, mend: str) -> None:
    told, how = next(statement_faults(statement, KNOWN))
    assert told.startswith(what)
    assert how.startswith(mend) or mend in how


@pytest.mark.parametrize("statement", SCHEMA)
def test_a_valid_schema_passes(statement: str) -> None:
    assert list(schema_faults(statement)) == []
    table = created_table(words_of(statement))
    assert table is None or list(table_faults(table, types(SCHEMA))) == []


@pytest.mark.parametrize(
    ("type_", "mend"),
    [
        ("string", "write text"),
        ("varchar2(20)", "write text"),
        ("integer", "write int"),
        ("serial", "write bigint"),
        ("timestmp", "did you mean 'timestamp'?"),
        ("bigint AUTO_INCREMENT", "write one of CQL's"),
    ],
)
def test_a_type_of_another_database_is_told_with_cql_s(type_: str, mend: str) -> None:
    table = created_table(words_of(f"CREATE TABLE t (id int PRIMARY KEY, n {type_})"))
    assert table
    [(what, how)] = table_faults(table, ())
    assert what == f"column n has the type {type_.lower()}, which there is not"
    assert how.startswith(mend)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("CREATE KEYSPACE mine WITH replication = {'class': 'SimpleStrategy'}", "CREATE KEYSPACE stands in it"),
        ("USE mine", "USE stands in it"),
        ("CREAT TABLE t (id int PRIMARY KEY)", "begins with CREAT, as no statement of CQL does"),
        ("CREATE TABEL t (id int PRIMARY KEY)", "CREATE TABEL is no CQL"),
        ("CREATE TABLE t (id int, n int)", "the table has no PRIMARY KEY"),
        ("CREATE TABLE t (id int, PRIMARY KEY (ident))", "PRIMARY KEY names ident, which is no column"),
        ("CREATE TABLE t (id itn PRIMARY KEY)", "column id has the type itn, which there is not"),
        ("CREATE TABLE t (id PRIMARY KEY)", "column id has no type"),
        ("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)", "a second statement follows"),
        ("CREATE TABLE t (id int PRIMARY KEY", "1 time `(` and 0 times `)`"),
    ],
)
def test_a_schema_that_no_database_makes_is_told(statement: str, what: str) -> None:
    table = created_table(words_of(statement))
    found = [*schema_faults(statement), *(list(table_faults(table, ())) if table else [])]
    told, _ = found[0]
    assert told.startswith(what)


def test_what_the_database_alone_checks_is_told() -> None:
    batch, view = "BEGIN BATCH INSERT INTO people (id) VALUES (1) APPLY BATCH", "SELECT * FROM by_note"
    told = list(unread({"reads": "SELECT * FROM people", "writes": batch, "notes": view}, KNOWN))
    assert [remark.split()[4] for remark in told] == ["writes", "notes"]
