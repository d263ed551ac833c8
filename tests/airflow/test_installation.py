"""The id that tells this Airflow from others that share a store."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import airflow.sdk
import pytest
from airflow.models.variable import Variable
from airflow.utils.session import create_session
from sqlalchemy import delete, event, select
from sqlalchemy.orm import Session
from tests.support.airflow.dag_bag import DagBag

from plimsoll.domain.hosts.owner import INSTALLATION
from plimsoll.domain.text.errors import Refused
from plimsoll_airflow.internals.inventory import ensure_variable
from plimsoll_airflow.runs import installation as binding
from plimsoll_airflow.runs.installation import on_starting, own_installation
from plimsoll_airflow.runs.ownership import INSTALLATION_ENVIRONMENT as TOLD
from plimsoll_airflow.runs.ownership import INSTALLATION_VARIABLE as VARIABLE


class Job:
    """Stands for Airflow's own, which a listener is given."""


DAGS = Path(__file__).resolve().parents[2] / "dags"


@pytest.fixture(autouse=True)
def variables(database: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide the variables of the tests' database, so that nobody has set the id."""
    monkeypatch.delenv(TOLD)
    yield
    with create_session() as session:
        session.execute(delete(Variable).where(Variable.key == VARIABLE))


def made() -> list[str]:
    with create_session() as session:
        return [found.val for found in session.scalars(select(Variable).where(Variable.key == VARIABLE))]


def test_the_scheduler_makes_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["airflow", "scheduler"])
    on_starting(Job())
    [first] = made()
    assert re.fullmatch(INSTALLATION, first)

    monkeypatch.delenv(TOLD)  # as after a restart
    on_starting(Job())
    assert made() == [first]


def test_tasks_that_the_scheduler_forks_inherit_it_and_ask_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_variable(VARIABLE, "lab-1", "")
    monkeypatch.setattr(sys, "argv", ["airflow", "scheduler"])
    # Airflow's own look-up does without the database until the scheduler has started.
    monkeypatch.setattr(airflow.sdk.Variable, "get", lambda *_, **__: "")
    on_starting(Job())

    command = [sys.executable, "-c", f"import os; print(os.environ[{TOLD!r}])"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "lab-1\n"
    assert own_installation() == "lab-1"


def test_of_two_schedulers_that_start_at_once_both_have_what_one_of_them_makes() -> None:
    def other_makes_it(*_: object) -> None:
        ensure_variable(VARIABLE, "first", "")

    event.listen(Session, "before_flush", other_makes_it, once=True)
    assert ensure_variable(VARIABLE, "second", "") == "first"
    assert made() == ["first"]


@pytest.mark.parametrize(("command", "component"), [("triggerer", Job()), ("scheduler", "a task's runner")])
def test_no_other_process_makes_it(monkeypatch: pytest.MonkeyPatch, command: str, component: object) -> None:
    monkeypatch.setattr(sys, "argv", ["airflow", command])
    on_starting(component)
    assert made() == []


@pytest.mark.usefixtures("installation")
def test_tasks_read_what_the_scheduler_has_made_and_fail_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    dag = DagBag(dag_folder=str(DAGS / "reaper.py"), bundle_path=DAGS, bundle_name="dags-folder").dags["reaper"]
    monkeypatch.setattr(binding, "PAUSES_S", ())
    assert str(dag.test(run_conf={"dry_run": True}).state) == "failed"

    ensure_variable(VARIABLE, "lab-1", "")
    assert str(dag.test(run_conf={"dry_run": True}).state) == "success"


def test_where_one_is_given_it_makes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["airflow", "scheduler"])
    monkeypatch.setenv(TOLD, "lab-1")
    on_starting(Job())
    assert (made(), own_installation()) == ([], "lab-1")


@pytest.mark.parametrize("value", ["", "lab one", "a#0"])
def test_without_an_id_or_with_one_that_no_token_can_hold_nothing_begins(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(TOLD, value)
    monkeypatch.setattr(binding, "PAUSES_S", ())
    with pytest.raises(Refused, match="restart the scheduler"):
        own_installation()


def test_it_is_asked_for_again_where_the_api_server_is_away_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["", "lab-1"])
    monkeypatch.setattr(binding, "find_installation", lambda: next(answers))
    monkeypatch.setattr(binding, "PAUSES_S", (0.0,))
    assert own_installation() == "lab-1"
