"""The exceptions by which tasks wait and start runs, which Airflow 3.1 has at another place."""

try:
    from airflow.sdk.exceptions import DagRunTriggerException, TaskDeferralError, TaskDeferred
except ImportError:
    from airflow.exceptions import (  # type: ignore[no-redef]
        DagRunTriggerException,
        TaskDeferralError,
        TaskDeferred,
    )

__all__ = ["DagRunTriggerException", "TaskDeferralError", "TaskDeferred"]
