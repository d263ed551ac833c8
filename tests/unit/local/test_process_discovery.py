"""Which processes belong to a home, told from a made-up process table."""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from plimsoll_airflow.local import processes as stack_processes
from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.processes import Member


class Made:
    """A process as psutil shows it. `environ` None: it can't be read, as of an undumpable process."""

    def __init__(
        self, pid: int, parent: int, environ: dict[str, str] | None, *, name: str = "python", cwd: str = "/"
    ) -> None:
        self.pid, self.info = pid, {"ppid": parent}
        self._environ, self._name, self._cwd = environ, name, cwd

    def environ(self) -> dict[str, str]:
        if self._environ is None:
            raise psutil.AccessDenied(self.pid)
        return self._environ

    def name(self) -> str:
        return self._name

    def cwd(self) -> str:
        return self._cwd

    def parents(self) -> list["Made"]:
        return [Made(self.info["ppid"], 1, {})]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "airflow")
    home.create()
    return home


def marked(home: Home, component: str) -> dict[str, str]:
    return {"PLIMSOLL_HOME": str(home.path), "PLIMSOLL_COMPONENT": component}


def found(
    home: Home, monkeypatch: pytest.MonkeyPatch, *table: Made, sessions: dict[int, int] | None = None
) -> dict[int, tuple[str, bool]]:
    """Return component and whether it is at the top, by process number."""

    def processes(_attributes: object) -> Iterator[Made]:
        return iter(table)

    def process(pid: int | None = None) -> Made:
        if pid is None:
            return Made(os.getpid(), os.getppid(), {})
        made = {made.pid: made for made in table}
        if pid not in made:
            raise psutil.NoSuchProcess(pid)
        return made[pid]

    monkeypatch.setattr(psutil, "process_iter", processes)
    monkeypatch.setattr(psutil, "Process", process)
    monkeypatch.setattr(os, "getsid", lambda pid: (sessions or {}).get(pid, 0))
    members: list[Member] = stack_processes.members(home)
    return {member.process.pid: (member.component, member.is_top) for member in members}


def test_marked_processes_and_their_descendants_belong_to_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    table = (
        Made(900, 1, marked(home, "scheduler")),
        # A worker whose number is lower than its parent's, and its undumpable task.
        Made(800, 900, {}),
        Made(901, 800, None),
    )
    assert found(home, monkeypatch, *table) == {
        900: ("scheduler", True),
        800: ("scheduler", False),
        901: ("scheduler", False),
    }


def test_other_homes_and_other_programs_do_not(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    table = (
        Made(900, 1, {"PLIMSOLL_HOME": "/elsewhere", "PLIMSOLL_COMPONENT": "scheduler"}),
        Made(901, 1, {"PATH": "/bin"}),
        Made(902, 1, None),
        Made(903, 1, {}, name="postgres", cwd="/var/lib/postgresql"),
    )
    assert found(home, monkeypatch, *table) == {}


def test_a_backend_that_outlived_its_server_is_known_by_where_it_works(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan = Made(900, 1, {}, name="postgres", cwd=str(home.database / "data"))
    assert found(home, monkeypatch, orphan) == {900: ("postgres", True)}


def test_an_undumpable_orphan_is_known_by_the_session_it_was_started_in(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.session_note("scheduler").write_text("900")
    orphan, stranger = Made(901, 1, None), Made(902, 1, None)
    sessions = {901: 900, 902: 77}
    assert found(home, monkeypatch, orphan, stranger, sessions=sessions) == {901: ("scheduler", True)}


def test_a_session_whose_number_belongs_to_somebody_else_by_now_is_not_ours(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.session_note("scheduler").write_text("900")
    table = (Made(900, 1, {"PATH": "/bin"}), Made(901, 900, None))
    assert found(home, monkeypatch, *table, sessions={901: 900}) == {}


def test_the_launcher_itself_is_never_a_member(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getppid()
    table = (Made(parent, 1, marked(home, "api-server")), Made(os.getpid(), parent, marked(home, "api-server")))
    assert found(home, monkeypatch, *table) == {}
