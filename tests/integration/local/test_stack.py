"""The stack as a whole: real Airflow processes, a real database, loopback only, nothing left behind."""

import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from tests.support.airflow.migrated import lay_migrated_database
from tests.support.airflow.stack import StackUnderTest, listening_addresses, patient_start, settings_for
from tests.support.processes import until

from plimsoll_airflow.local import processes
from plimsoll_airflow.local.client import AirflowClient, Pool
from plimsoll_airflow.local.home import LOOPBACK, ApiError, Home, StackError, parse_users
from plimsoll_airflow.local.stack import Stack

DAGS = Path(__file__).parent / "dags"
USERS = parse_users("vera:viewer,admin:admin")
PATIENCE_S = 200.0
OFTEN = {f"AIRFLOW__DAG_PROCESSOR__{name}": "1" for name in ("REFRESH_INTERVAL", "BUNDLE_REFRESH_CHECK_INTERVAL")}
"""How often the DAG processor looks for changed definitions, s."""


@pytest.fixture(scope="module")
def up(folder: Path) -> Iterator[StackUnderTest]:
    """Provide a stack that was asked for a port in use."""
    with socket.create_server((LOOPBACK, 0)) as taken:
        settings = settings_for(folder, dags=DAGS, env=OFTEN)
        stack = Stack(Home(folder / "airflow"), replace(settings, port=taken.getsockname()[1], clusters=3, users=USERS))
        try:
            with patient_start():
                running = stack.up(["chain", "deferred", "failing", "resumed", "endless"], kept=True)
            with stack.client(running) as client:
                yield StackUnderTest(stack, running, client)
        finally:
            stack.down()


def test_a_chain_of_tasks_and_a_deferred_one_succeed(up: StackUnderTest) -> None:
    assert up.run_to_end("chain", {}).state == "success"
    assert up.run_to_end("deferred", {}).state == "success"


def test_a_task_resumed_at_once_is_not_taken_for_dead_when_its_first_process_ends(up: StackUnderTest) -> None:
    run = up.run_to_end("resumed", {})
    assert {(task.state, task.try_number) for task in up.client.task_instances(run.dag_id, run.run_id)} == {
        ("success", 1)
    }


def test_it_listens_on_loopback_only(up: StackUnderTest) -> None:
    assert listening_addresses(up.stack.home) == {LOOPBACK}


def test_a_port_in_use_is_left_alone(up: StackUnderTest) -> None:
    assert up.running.port != up.stack.settings.port


def test_the_pool_of_clusters_has_the_slots_asked_for_and_counts_deferred_tasks(up: StackUnderTest) -> None:
    assert up.client.pool("clusters") == Pool("clusters", slots=3, include_deferred=True)


def test_the_errors_of_a_failed_task_are_told(up: StackUnderTest) -> None:
    run = up.run_to_end("failing", {})
    assert run.state == "failed"
    (task,) = up.client.task_instances(run.dag_id, run.run_id)
    assert up.client.task_errors(run, task) == ["the anchor is aweigh"]


def test_dag_files_are_read_again_when_a_definition_is_added_changed_or_removed(up: StackUnderTest) -> None:
    definition = up.stack.settings.campaigns / "new.yaml"
    definition.parent.mkdir(exist_ok=True)
    for change in (lambda: definition.write_text(""), lambda: definition.write_text("name: new"), definition.unlink):
        before = _parsed_at(up)
        change()
        _wait_until_parsed_after(up, before)


def test_a_viewer_logs_in_with_a_password_of_their_own_and_may_only_look(up: StackUnderTest) -> None:
    with AirflowClient(up.running.url, up.stack.home.password_of("vera"), user="vera") as vera:
        assert vera.dag("chain") is not None
        with pytest.raises(ApiError, match="403"):
            vera.unpause("chain")


def test_triggering_twice_under_one_run_id_is_one_run(up: StackUnderTest) -> None:
    first, second = (up.client.trigger("chain", {"n": n}, run_id="once") for n in (1, 2))
    assert (first.run_id, first.conf) == (second.run_id, second.conf)


def test_secrets_are_private_and_in_no_log(up: StackUnderTest) -> None:
    home = up.stack.home
    secrets = (home.password_of("admin"), home.password_of("vera"), *vars(home.secrets).values())
    for path in (home.passwords, home.keys):
        assert path.stat().st_mode & 0o077 == 0
    for log in home.path.rglob("*.log"):
        assert not [secret for secret in secrets if secret in log.read_text(errors="replace")]


def test_no_log_warns_of_what_is_deprecated(up: StackUnderTest) -> None:
    """The api-server's and the DAG processor's would at each start, for Airflow's own doing."""
    logs = [log.read_text(errors="replace") for log in up.stack.home.path.rglob("*.log")]
    assert any("api_fastapi" in log for log in logs), "the logs of components are elsewhere"
    assert not [line for log in logs for line in log.splitlines() if "DeprecationWarning" in line]


def test_starting_again_finds_it_running(up: StackUnderTest) -> None:
    before = {member.process.pid for member in processes.members(up.stack.home) if member.is_top}
    assert up.stack.up(kept=False) == up.running
    assert before == {member.process.pid for member in processes.members(up.stack.home) if member.is_top}


def test_other_settings_are_refused_while_it_runs(up: StackUnderTest) -> None:
    other = replace(up.stack, settings=replace(up.stack.settings, store="file:///elsewhere"))
    with pytest.raises(StackError, match="other settings"):
        other.up(kept=True)
    assert up.stack.running() == up.running


def test_a_crash_while_tasks_run_is_cleaned_up_by_the_next_start(up: StackUnderTest) -> None:
    home = up.stack.home
    up.client.unpause("endless")
    run = up.client.trigger("endless", {})
    _wait_until_both_tasks_are_under_way(up, run.run_id)
    before = processes.members(home)
    for member in before:
        if member.is_top:
            member.process.kill()

    with patient_start():
        running = up.stack.up(["endless"], kept=False)

    assert not [member for member in before if processes.is_alive(member.process)]
    with up.stack.client(running) as client:
        assert client.dag_run("endless", run.run_id).state == "failed"
        assert {task.state for task in client.task_instances("endless", run.run_id)} == {"failed"}
        client.unpause("chain")
        assert StackUnderTest(up.stack, running, client).run_to_end("chain", {}).state == "success"


def test_down_leaves_no_process_and_no_socket(up: StackUnderTest) -> None:
    up.stack.down()
    assert not processes.members(up.stack.home)
    assert not up.stack.home.socket_dir.exists()
    up.stack.down()


def test_of_airflow_that_cannot_be_imported_the_last_lines_are_told_and_nothing_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = Stack(Home(folder / "broken"), settings_for(folder, dags=DAGS))
    stack.home.create()
    lay_migrated_database(stack.home)
    broken = [sys.executable, "-c", "raise SystemExit('no ropes')"]
    monkeypatch.setattr(processes, "airflow_command", lambda _arguments: broken)
    with pytest.raises(StackError, match="has ended:\nno ropes"):
        stack.up(kept=False)
    assert not processes.members(stack.home)


def _wait_until_both_tasks_are_under_way(up: StackUnderTest, run_id: str) -> None:
    wanted = {("sleep", "running"), ("wait", "deferred")}

    def tasks() -> set[tuple[str, str | None]]:
        return {(task.task_id, task.state) for task in up.client.task_instances("endless", run_id)}

    until(lambda: tasks() == wanted, lambda: f"both tasks under way: {tasks()}", patience_s=PATIENCE_S)


def _wait_until_parsed_after(up: StackUnderTest, before: datetime) -> None:
    until(lambda: _parsed_at(up) > before, f"the DAG files read again after {before}", patience_s=PATIENCE_S)


def _parsed_at(up: StackUnderTest) -> datetime:
    dag = up.client.dag("chain")
    assert dag is not None
    assert dag.parsed_at is not None
    return dag.parsed_at
