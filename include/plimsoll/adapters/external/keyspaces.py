"""The keyspace that a load has in a database of somebody else.

Its mark is a table whose comment says which cluster of which store the keyspace belongs to, since a keyspace itself has
no comment. Only a keyspace with the own mark is ever dropped.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Annotated

from pydantic import AwareDatetime, Field, ValidationError, field_validator

from plimsoll.adapters.native_protocol import DatabaseRefused, Session
from plimsoll.adapters.native_protocol.frames import ALREADY_EXISTS, UNAUTHORIZED
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import ProviderError

_TABLE = "plimsoll_owner"
_MARK = "SELECT comment FROM system_schema.tables WHERE keyspace_name = '{}' AND table_name = '{}'"
_SNAPSHOTS = (
    "SELECT column_name FROM system_schema.columns WHERE keyspace_name = 'system_schema' AND table_name = 'tables' "
    "AND column_name = 'allow_auto_snapshot'"
)
_VERSIONS = ("SELECT schema_version FROM system.local", "SELECT schema_version FROM system.peers")
_PAUSES_S = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 3.2)
_Name = Annotated[str, Field(max_length=1000)]
_MEND = "name another keyspace: Plimsoll makes its own, and drops it after each cell"
_MENDS = {
    UNAUTHORIZED: "let the user create and drop keyspaces, or write `{existing: …, read_only: true}`",
    ALREADY_EXISTS: _MEND,
}


class Mark(Model):
    """What the mark of a keyspace says: to which cluster of which store it belongs, and who made it.

    Whoever may make tables there can write one. So it says where to look, and never what is true elsewhere.
    """

    cluster: str
    store: _Name
    owner: _Name
    made_at: AwareDatetime
    expires_at: AwareDatetime

    @field_validator("cluster")
    @classmethod
    def _names_a_cluster(cls, value: str) -> str:
        return str(ClusterId.parse(value))


@dataclass(frozen=True)
class NewKeyspace:
    """A keyspace to be made: its name, and how many replicas its rows have in a data centre."""

    name: str
    data_centre: str
    replicas: int

    @property
    def statement(self) -> str:
        """Return the statement that makes it, and fails where there is one of that name."""
        replication = f"{{'class': 'NetworkTopologyStrategy', '{self.data_centre}': {self.replicas}}}"
        return f"CREATE KEYSPACE {self.name} WITH replication = {replication}"


def mark_of(session: Session, keyspace: str) -> Mark | None:
    """Return the mark of that keyspace; None where it has none, or is not there. Raises ProviderError."""
    for row in session.rows(_MARK.format(keyspace, _TABLE)):
        with suppress(ValidationError):  # a table of that name that is somebody else's
            return Mark.model_validate_json(row.get("comment", ""))
    return None


def has_snapshot_option(session: Session) -> bool:
    """Tell whether a table can be dropped without a snapshot, as in Cassandra since 5.0. Raises ProviderError."""
    return bool(session.rows(_SNAPSHOTS))


def is_there(session: Session, keyspace: str) -> bool:
    return _has(session, "keyspaces", keyspace)


def require_own_keyspace(
    session: Session, mark: Mark, wanted: NewKeyspace, *, began: bool, begin: Callable[[], None]
) -> None:
    """Make the keyspace with its mark, or find it made. Raises ProviderError where it is somebody else's.

    `begin` is called before it is made; `began`: whether that was so before, by a process that may have died between
    keyspace and mark.
    """
    keyspace = wanted.name
    present = mark_of(session, keyspace)
    if present is not None and (present.store, present.cluster) == (mark.store, mark.cluster):
        return
    if present is not None:
        what = f"the keyspace is in use by {present.cluster} of the store {present.store}, or was left by it"
        drops = f"`plimsoll clusters destroy {present.cluster}` drops the keyspace"
        raise _refused(keyspace, what, f"wait until that has ended; where it has, {drops}")
    is_left = is_there(session, keyspace)
    if is_left and not (began and is_empty(session, keyspace)):
        raise _refused(keyspace, "there is such a keyspace, which Plimsoll has not made", _MEND)
    begin()
    with _explained(keyspace):
        if not is_left:
            session.change(wanted.statement)
        comment = json.dumps(mark.model_dump(mode="json")).replace("'", "''")
        session.change(f"CREATE TABLE {keyspace}.{_TABLE} (owner text PRIMARY KEY) WITH comment = '{comment}'")
    await_agreement(session)


def drop_marked(session: Session, keyspace: str, store: str, cluster: str, *, began: bool) -> None:
    """Drop the keyspace if it is that cluster's, and see that it is gone. Any other is left alone. ProviderError."""
    mark = mark_of(session, keyspace)
    is_own = mark is not None and (mark.store, mark.cluster) == (store, cluster)
    is_unmarked = mark is None and began and is_there(session, keyspace) and is_empty(session, keyspace)
    if not is_own and not is_unmarked:
        return
    with _explained(keyspace):
        session.change(f"DROP KEYSPACE IF EXISTS {keyspace}")
        if is_there(session, keyspace):
            raise _refused(keyspace, "the keyspace is still there after it was dropped", "drop it by hand")
    # Cassandra's nodes take back all rights to a keyspace as they hear of its end, also those to the next of its name.
    await_agreement(session)


def await_agreement(session: Session) -> None:
    """Wait until all nodes have the same schema, as they tell one another; not for long, as one may be down."""
    for pause_s in _PAUSES_S:
        versions = {row.get("schema_version") for ask in _VERSIONS for row in session.rows(ask)}
        if len(versions) == 1:
            return
        time.sleep(pause_s)


def is_empty(session: Session, keyspace: str) -> bool:
    """Tell whether the keyspace has no table."""
    return not _has(session, "tables", keyspace)


def _has(session: Session, table: str, keyspace: str) -> bool:
    # Names of keyspaces are plain by their pattern in a definition's options.
    statement = f"SELECT keyspace_name FROM system_schema.{table} WHERE keyspace_name = '{keyspace}'"  # noqa: S608
    return bool(session.rows(statement))


@contextmanager
def _explained(keyspace: str) -> Iterator[None]:
    """Raise ProviderError with a way to mend it in the place of what the database refuses."""
    try:
        yield
    except DatabaseRefused as error:
        raise _refused(keyspace, error.what, _MENDS.get(error.code, "see the database's log")) from error


def _refused(keyspace: str, what: str, mend: str) -> ProviderError:
    return ProviderError(what, where=f"keyspace {keyspace}", mend=mend)
