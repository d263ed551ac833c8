"""Looks for secrets where none may be: Airflow's logs and files, its metadata database, the result store."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

import psycopg2
from psycopg2 import sql
from tests.cloud_stack import CloudStack

from plimsoll_airflow.local.environment import DATABASE_USER

_KEPT = "connection"
"""The table in which Airflow keeps them, encrypted."""


def places_that_tell(stack: CloudStack, words: Sequence[str]) -> dict[str, list[str]]:
    """By kind of place, each place that holds one of the words."""
    sought = [word.encode() for word in words]
    return {
        "files": _telling(_files(stack), sought),
        "database": _telling(_rows(stack), sought),
        "store": _telling(((key, stack.store.read(key)) for key in stack.store.keys("")), sought),
    }


def _telling(places: Iterable[tuple[str, bytes]], sought: Sequence[bytes]) -> list[str]:
    return sorted({name for name, content in places if any(word in content for word in sought)})


def _files(stack: CloudStack) -> Iterator[tuple[str, bytes]]:
    """Everything below Airflow's home, task logs and those of its parts too, but the database's own files."""
    home = stack.airflow.stack.home
    for path in home.path.rglob("*"):
        if path.is_file() and not path.is_relative_to(home.database):
            yield str(path.relative_to(home.path)), path.read_bytes()


def _rows(stack: CloudStack) -> Iterator[tuple[str, bytes]]:
    """All rows of all tables: XComs, arguments of triggers, configurations of runs, rendered fields."""
    address = {"host": str(stack.airflow.stack.home.socket_dir), "user": DATABASE_USER, "dbname": "postgres"}
    with closing(psycopg2.connect(**address)) as connection, connection.cursor() as cursor:
        cursor.execute("select tablename from pg_tables where schemaname = 'public'")
        for (table,) in cursor.fetchall():
            if table != _KEPT:
                cursor.execute(sql.SQL("select t::text from {} t").format(sql.Identifier(table)))
                yield table, "\n".join(row for (row,) in cursor.fetchall()).encode()
