"""How a person's mark on a run is made, as by the REST API's PATCH of it. Read in Airflow 3.3.2, 3.2.2 and 3.1.8."""

from typing import Any

try:
    from airflow.api_fastapi.core_api.datamodels.dag_run import DagRunMutableStates
    from airflow.api_fastapi.core_api.services.public.dag_run import patch_dag_run_state

    def mark_run_failed(dag: Any, run: Any, session: Any) -> None:
        """Mark the run as failed, and tell listeners. Uses the function behind that PATCH."""
        patch_dag_run_state(dag=dag, dag_run=run, state=DagRunMutableStates.FAILED, session=session)

except ImportError:  # before 3.3 that PATCH had no function of its own
    from airflow.api.common.mark_tasks import set_dag_run_state_to_failed
    from airflow.listeners.listener import get_listener_manager

    def mark_run_failed(dag: Any, run: Any, session: Any) -> None:
        """Mark the run as failed, and tell listeners. Uses what the code of that PATCH uses."""
        set_dag_run_state_to_failed(dag=dag, run_id=run.run_id, commit=True, session=session)
        get_listener_manager().hook.on_dag_run_failed(dag_run=run, msg="")
