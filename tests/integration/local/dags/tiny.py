"""DAGs for tests of the stack itself."""

import time
from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.sensors.time_delta import TimeDeltaSensor
from airflow.sdk import DAG, BaseOperator
from airflow.sdk.exceptions import AirflowFailException
from airflow.triggers.testing import SuccessTrigger


class ResumedAtOnce(BaseOperator):
    """Defers to a trigger that fires at once, and is at work when its first process ends."""

    def execute(self, context: Any) -> None:
        """Defer."""
        self.defer(trigger=SuccessTrigger(), method_name="resume")  # type: ignore[no-untyped-call]  # Airflow left out its type

    def resume(self, context: Any, event: Any) -> None:
        """Work."""
        time.sleep(3)


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

with DAG("resumed", schedule=None):
    for number in range(6):
        ResumedAtOnce(task_id=f"resumed_{number}")

with DAG("endless", schedule=None):
    TimeDeltaSensor(task_id="wait", delta=timedelta(days=1), deferrable=True, retries=1)
    PythonOperator(task_id="sleep", python_callable=lambda: time.sleep(3600))
