"""A run whose database dies. Tests of other files then need another node, so this file's name is the folder's last."""

from typing import Any

from tests.integration.stress.program import FEW

INCOMPLETE = 6


def test_a_lost_database_ends_the_run_with_its_errors_counted(node: Any, start_load: Any) -> None:
    load = start_load(node, *FEW, "-d", "10m", "--give-up", "3s")
    node.kill()
    assert load.wait() == INCOMPLETE, load.said()
    summary = load.files.summary
    assert (summary["complete"], summary["exit_code"]) == (False, INCOMPLETE)
    assert "no operation was answered for 3 s" in summary["reason"]
    run = summary["run"]
    # A generator that stands still as it is killed counts what was due as unfinished.
    assert run["errors"]["connection"] + run["errors"]["unfinished"] >= 200
    assert run["completed"] == load.files.completed().total() > 0
