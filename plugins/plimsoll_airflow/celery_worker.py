"""The module that a Celery worker imports before it forks the processes that run tasks.

It is named in `celery.extra_celery_config`, key `imports`. Airflow calls no listener in a worker, and without this
module every task would repeat the imports of `lifecycle`.
"""

from typing import Any

from celery.signals import worker_init

from plimsoll_airflow.lifecycle import warm_up, warm_up_for_tasks


def prepare(**_: Any) -> None:
    """Import what tasks need. Celery calls this in the worker's main process, before it forks."""
    warm_up()
    warm_up_for_tasks()


worker_init.connect(prepare, weak=False)
