"""Search for secrets where none may be: in Airflow's logs and files, its metadata database and the result store."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

import psycopg2
from psycopg2 import sql
from tests.support.airflow.stack import StackUnderTest

from plimsoll.ports.store import ResultStore
from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.process_environment import DATABASE_USER

_KEPT = "connection"
"""The table in which Airflow keeps secrets, encrypted."""


def words_of_key(private_key: str) -> list[str]:
    """Return texts whose presence reveals a private key: each line that no other key has."""
    # The first line of the body is the same in all Ed25519 keys.
    return [line for line in private_key.splitlines() if not line.startswith("-----")][1:]


def places_that_tell(airflow: StackUnderTest, store: ResultStore, words: Sequence[str]) -> dict[str, list[str]]:
    """Return the places that contain one of the words, by kind of place."""
    sought = [word.encode() for word in words]
    return {
        "files": _telling(_files(airflow.stack.home), sought),
        "database": _telling(_rows(airflow.stack.home), sought),
        "store": _telling(((key, store.read(key)) for key in store.keys("")), sought),
    }


def _telling(places: Iterable[tuple[str, bytes]], sought: Sequence[bytes]) -> list[str]:
    return sorted({name for name, content in places if any(word in content for word in sought)})


def _files(home: Home) -> Iterator[tuple[str, bytes]]:
    """Yield all files below Airflow's home, with the logs of tasks and components, except the files of the database."""
    for path in home.path.rglob("*"):
        if path.is_file() and not path.is_relative_to(home.database):
            yield str(path.relative_to(home.path)), path.read_bytes()


def _rows(home: Home) -> Iterator[tuple[str, bytes]]:
    """Yield all rows of all tables, such as XComs, arguments of triggers, configurations of runs and rendered
    fields.
    """
    address = {"host": str(home.socket_dir), "user": DATABASE_USER, "dbname": "postgres"}
    with closing(psycopg2.connect(**address)) as connection, connection.cursor() as cursor:
        cursor.execute("select tablename from pg_tables where schemaname = 'public'")
        for (table,) in cursor.fetchall():
            if table != _KEPT:
                cursor.execute(sql.SQL("select t::text from {} t").format(sql.Identifier(table)))
                yield table, "\n".join(row for (row,) in cursor.fetchall()).encode()
