"""Whether the present task is still meant to run, for tasks that start other runs."""

from typing import TYPE_CHECKING

from airflow.sdk import TaskInstanceState

from plimsoll_airflow.internals.moved import AirflowSkipException

if TYPE_CHECKING:
    from airflow.sdk.types import RuntimeTaskInstanceProtocol


def require_running(ti: "RuntimeTaskInstanceProtocol") -> None:
    """Raise AirflowSkipException where somebody ended or cleared the task. Its process is told at its next heartbeat.

    The state of the task's run does not tell: a run that is ended continues for its teardown.
    """
    states = ti.get_task_states(ti.dag_id, map_index=ti.map_index, task_ids=[ti.task_id], run_ids=[ti.run_id])
    if TaskInstanceState.RUNNING not in states.get(ti.run_id, {}).values():
        raise AirflowSkipException("this task was ended by hand or cleared, and so it starts no other run")
