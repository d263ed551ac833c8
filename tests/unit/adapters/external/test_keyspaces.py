"""The keyspace of a load: made with its mark, refused where it is somebody else's, dropped where it is the own."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from plimsoll.adapters.external.keyspaces import Mark, NewKeyspace, drop_marked, mark_of, require_own_keyspace
from plimsoll.adapters.native_protocol import DatabaseRefused, Session
from plimsoll.adapters.native_protocol.frames import UNAUTHORIZED
from plimsoll.domain.text.errors import ProviderError

AT = datetime(2026, 1, 31, tzinfo=UTC)
MINE = Mark(cluster="demo/a-00100-r1/1", store="here", owner="me", made_at=AT, expires_at=AT + timedelta(hours=1))
OTHERS = MINE.model_copy(update={"cluster": "demo/a-00100-r1/2"})
WANTED = NewKeyspace("bench", "dc1", 3)


class Answers:
    """A session with a database of these keyspaces: name → comments of its tables by name."""

    def __init__(self, keyspaces: Mapping[str, Mapping[str, str]], refusal: Exception | None = None) -> None:
        self.keyspaces = {name: dict(tables) for name, tables in keyspaces.items()}
        self.changes: list[str] = []
        self.peers: list[str] = []
        """Versions of the schema that the other node has from look to look; the first node has `new`."""
        self._refusal = refusal

    def rows(self, statement: str) -> list[Mapping[str, str]]:
        if "schema_version" in statement:
            return [{"schema_version": self.peers.pop(0) if "peers" in statement and self.peers else "new"}]
        if "comment" in statement:
            return [
                {"keyspace_name": name, "comment": tables["plimsoll_owner"]}
                for name, tables in self.keyspaces.items()
                if "plimsoll_owner" in tables and f"'{name}'" in statement
            ]
        there = "bench" in self.keyspaces and (".keyspaces" in statement or bool(self.keyspaces["bench"]))
        return [{"keyspace_name": "bench"}] if there else []

    def change(self, statement: str) -> None:
        if self._refusal:
            raise self._refusal
        self.changes.append(statement.partition(" WITH")[0])
        if statement.startswith("DROP"):
            self.keyspaces.pop("bench", None)


def marked(mark: Mark) -> dict[str, str]:
    return {"plimsoll_owner": mark.model_dump_json()}


def make(answers: Answers, *, began: bool = False) -> list[str]:
    begun: list[str] = []
    session = cast(Session, answers)
    require_own_keyspace(session, MINE, WANTED, began=began, begin=lambda: begun.append("begun"))
    return [*begun, *answers.changes]


def test_a_keyspace_is_made_with_its_mark_and_found_again() -> None:
    made = ["begun", "CREATE KEYSPACE bench", "CREATE TABLE bench.plimsoll_owner (owner text PRIMARY KEY)"]
    assert make(Answers({})) == made
    assert make(Answers({"bench": marked(MINE)})) == []
    assert "'NetworkTopologyStrategy', 'dc1': 3" in WANTED.statement


def test_a_process_that_died_between_keyspace_and_mark_has_its_keyspace_marked_or_dropped() -> None:
    marking = ["begun", "CREATE TABLE bench.plimsoll_owner (owner text PRIMARY KEY)"]
    assert make(Answers({"bench": {}}), began=True) == marking
    left = Answers({"bench": {}})
    drop_marked(cast(Session, left), "bench", "here", MINE.cluster, began=True)
    assert left.changes == ["DROP KEYSPACE IF EXISTS bench"]


@pytest.mark.parametrize(
    ("tables", "began"), [({}, False), ({"people": ""}, True), (marked(OTHERS), True), ({"plimsoll_owner": ""}, True)]
)
def test_a_keyspace_of_somebody_else_is_refused_and_never_dropped(tables: Any, began: bool) -> None:
    answers = Answers({"bench": tables})
    with pytest.raises(ProviderError, match=r"keyspace bench: .*(has not made|in use by demo/a-00100-r1/2)"):
        make(answers, began=began)
    drop_marked(cast(Session, answers), "bench", "here", MINE.cluster, began=began)
    drop_marked(cast(Session, answers), "bench", "another store", MINE.cluster, began=began)
    assert answers.changes == []


@pytest.mark.parametrize(("old", "looks"), [(2, 3), (20, 7)])
def test_a_keyspace_is_gone_once_all_nodes_know_it_or_one_of_them_has_had_its_time(
    old: int, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("plimsoll.adapters.external.keyspaces.time.sleep", slept.append)
    answers = Answers({"bench": marked(MINE)})
    answers.peers = ["old"] * old

    drop_marked(cast(Session, answers), "bench", "here", MINE.cluster, began=False)

    assert len(answers.peers) == old - min(old, looks)
    assert len(slept) == min(old, 7)
    assert sum(slept) < 10


def test_a_keyspace_of_another_store_is_left_alone() -> None:
    answers = Answers({"bench": marked(MINE)})
    drop_marked(cast(Session, answers), "bench", "another store", MINE.cluster, began=False)
    assert answers.changes == []


NAIVE = MINE.model_dump_json().replace("Z", "")
LONG = MINE.model_copy(update={"owner": "x" * 60_000}).model_dump_json()


@pytest.mark.parametrize("comment", ["{}", "", "[" * 5000, NAIVE, LONG])
def test_a_mark_that_no_plimsoll_wrote_is_none(comment: str) -> None:
    assert MINE.model_dump_json() != NAIVE
    assert mark_of(cast(Session, Answers({"bench": {"plimsoll_owner": comment}})), "bench") is None
    assert mark_of(cast(Session, Answers({"bench": marked(MINE)})), "bench") == MINE


def test_a_user_without_the_right_is_told_which() -> None:
    refused = DatabaseRefused(UNAUTHORIZED, "User bench has no CREATE permission", "node:9042")
    with pytest.raises(ProviderError, match=r"no CREATE permission\n  To mend it: let the user create and drop"):
        make(Answers({}, refused))
