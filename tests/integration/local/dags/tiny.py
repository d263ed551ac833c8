"""DAGs for tests of the stack itself: a chain of instant tasks, a deferrable one, one that fails."""

from datetime import timedelta

from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.sensors.time_delta import TimeDeltaSensor
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowFailException


def fail() -> None:
    """Fail with words that a test looks for."""
    raise AirflowFailException("the anchor is aweigh")


with DAG("chain", schedule=None):
    first, second, third = (PythonOperator(task_id=name, python_callable=lambda: None) for name in ("a", "b", "c"))
    first >> second >> third

with DAG("deferred", schedule=None):
    TimeDeltaSensor(task_id="wait", delta=timedelta(seconds=1), deferrable=True, retries=1)

with DAG("failing", schedule=None):
    PythonOperator(task_id="fail", python_callable=fail)

with DAG("endless", schedule=None):
    TimeDeltaSensor(task_id="wait", delta=timedelta(days=1), deferrable=True, retries=1)
    PythonOperator(task_id="sleep", python_callable=lambda: __import__("time").sleep(3600))
