"""The types of markers, as far as a definition's own schema tells them."""

import pytest

from plimsoll.adapters.cql import tables
from plimsoll.adapters.generators.plimsoll_stress.markers import marker_types

SCHEMA = [
    "CREATE TABLE IF NOT EXISTS ks.people (id bigint PRIMARY KEY, -- the key, of course\n"
    'n tinyint, at timeuuid static, "Born" date, tags set<text>, spots frozen<map<text, inet>>, note varchar)'
    " WITH compression = {'class': 'LZ4Compressor'}",
    "create table hits (page text, day int, hits counter, primary key ((page, day)))",
    "CREATE INDEX ON people (n)",
]


def test_tables_have_the_columns_of_their_statements() -> None:
    assert {name: table.columns for name, table in tables(SCHEMA).items()} == {
        "people": {
            **{"id": "bigint", "n": "tinyint", "at": "timeuuid", "Born": "date", "tags": "set<text>"},
            **{"spots": "frozen<map<text,inet>>", "note": "text"},
        },
        "hits": {"page": "text", "day": "int", "hits": "counter"},
    }


@pytest.mark.parametrize(
    ("statement", "types"),
    [
        (
            'INSERT INTO people (id, "Born", n, note) VALUES (:id, :born, 5, :note) USING TTL :ttl AND TIMESTAMP :at',
            {"id": "bigint", "born": "date", "note": "text", "ttl": "int", "at": "bigint"},
        ),
        (
            "SELECT * FROM ks.people WHERE id = :id AND at >= :from LIMIT :most",
            {"id": "bigint", "from": "timeuuid", "most": "limit"},
        ),
        (
            "SELECT * FROM people WHERE id IN (:a, :b) PER PARTITION LIMIT :c",
            {"a": "bigint", "b": "bigint", "c": "limit"},
        ),
        ("SELECT * FROM people WHERE id IN :ids", {"ids": "list<bigint>"}),
        ("UPDATE hits SET hits = hits + :by WHERE page = :p AND day = :d", {"by": "counter", "p": "text", "d": "int"}),
        ("UPDATE people SET n = :n WHERE id = :id IF n < :old", {"n": "tinyint", "id": "bigint", "old": "tinyint"}),
        ("SELECT * FROM people WHERE token(id) > token(:id)", {}),
        ("UPDATE people SET tags[:k] = :v WHERE id = 7", {}),
        ("SELECT * FROM strangers WHERE id = :id", {}),
        ("SELECT * FROM people WHERE note = ':n' AND id = 3 -- n = :n", {}),
        ("INSERT INTO people JSON :text", {}),
        ("BEGIN BATCH DELETE FROM people WHERE id = :id; DELETE FROM hits WHERE page = :id; APPLY BATCH", {}),
        (":", {}),
        ("", {}),
    ],
)
def test_a_marker_has_the_type_of_its_column(statement: str, types: dict[str, str]) -> None:
    assert marker_types(statement, tables(SCHEMA)) == types
