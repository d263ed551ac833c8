"""The table that a run makes, uses or drops, and its rows."""

import re
from collections.abc import Callable
from typing import Any

from tests.integration.stress.program import Program
from tests.support.nodes.slowness import not_slow


def test_the_rows_are_those_of_tlp_stress(load: Callable[..., Any], node: Any, ask: Callable[..., Any]) -> None:
    """A key for every operation of a thread, going on where populating ended; 100 to 199 letters each."""
    told = ("--keyspace", "told", "-t", "2", "--pg", "sequence", "--populate", "5", "-d", "1s")
    ended, files = load(node, *told, "--rate", "20", "-r", "0")
    assert ended.returncode == 0, ended.stderr
    (rows,) = ask(f"rows {node.address} told")
    texts = dict(row.split("=") for row in rows.split())
    wanted = {f"001.{thread}.{number}" for thread in (0, 1) for number in range(15)}
    errors = files.summary["run"]["errors"]
    assert not_slow(errors) == {}
    assert texts.keys() <= wanted
    assert len(wanted - texts.keys()) <= sum(errors.values()), "a row is missing, and no write of one has failed"
    assert all(re.fullmatch("[A-Z]{100,199}", text) for text in texts.values())


def test_a_second_run_uses_the_table_that_is_there(program: Program, node: Any) -> None:
    told = ("--keyspace", "told", "--no-schema", "--rate", "20", "-d", "1s", "-r", "1")
    ended = program.run("run", "BasicTimeSeries", "--host", node.address, *told)
    assert ended.returncode == 0, ended.stderr


def test_dropping_the_keyspace_first_starts_from_nothing(program: Program, node: Any, ask: Callable[..., Any]) -> None:
    told = ("--keyspace", "told", "--rf", "1", "--drop", "--rate", "20", "-d", "1s", "-r", "1")
    ended = program.run("run", "BasicTimeSeries", "--host", node.address, *told)
    assert ended.returncode == 0, ended.stderr
    assert ask(f"rows {node.address} told") == [""]
