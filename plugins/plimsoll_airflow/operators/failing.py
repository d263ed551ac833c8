"""Fail tasks: an error that another try would meet again ends the task at once."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from plimsoll.services.cell.attempt_state import record_failure
from plimsoll.services.cell.context import AttemptContext
from plimsoll_airflow.internals.moved import AirflowFailException, AirflowTaskTimeout

TRIES: Mapping[str, Any] = {"retries": 3, "retry_delay": timedelta(seconds=5)}
"""Arguments for a DAG's `default_args`: tries are for killed processes, an error ends its task at once (`final`)."""


@contextmanager
def final() -> Iterator[None]:
    """Make errors and the time limit end the task without another try.

    Adapters themselves retry what is worth retrying. Retries of a task are for a killed process, which raises no
    exception.
    """
    try:
        yield
    except (Exception, AirflowTaskTimeout) as error:  # the latter is no Exception
        raise AirflowFailException(str(error)) from error


@contextmanager
def overrun_recorded(work: AttemptContext, phase: str) -> Iterator[None]:
    try:
        yield
    except AirflowTaskTimeout as timeout:
        record_failure(work, f"{phase}: took longer than its task may")
        raise AirflowFailException(f"{work.key}: {phase} took longer than its task may") from timeout
