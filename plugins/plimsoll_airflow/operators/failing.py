"""How tasks fail: an error that another try would only meet again ends the task at once."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from airflow.sdk.exceptions import AirflowFailException, AirflowTaskTimeout

from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.recording import record_failure

TRIES: Mapping[str, Any] = {"retries": 3, "retry_delay": timedelta(seconds=5)}
"""For a DAG's `default_args`: tries are for killed processes, an error ends its task at once (`final`)."""


@contextmanager
def final() -> Iterator[None]:
    """Errors end the task without another try, and so does its time.

    Adapters repeat what is worth repeating themselves. Retries of a task are for its process being killed, which no
    exception tells of.
    """
    try:
        yield
    except (Exception, AirflowTaskTimeout) as error:  # the latter is no Exception
        raise AirflowFailException(str(error)) from error


@contextmanager
def overrun_recorded(work: AttemptContext, phase: str) -> Iterator[None]:
    """Put a phase that exceeds its task's time on record."""
    try:
        yield
    except AirflowTaskTimeout as timeout:
        record_failure(work, f"{phase}: took longer than its task may")
        raise AirflowFailException(f"{work.key}: {phase} took longer than its task may") from timeout
