"""Names that are public in Airflow 3.2 and later, and in 3.1 lie elsewhere. Read in Airflow 3.3.2, 3.2.2 and 3.1.8."""

try:
    from airflow.sdk import CronTriggerTimetable, conf
    from airflow.sdk.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowSkipException,
        AirflowTaskTimeout,
        ParamValidationError,
        TaskDeferralTimeout,
    )
except ImportError:  # 3.1: `airflow.sdk` has none of them
    from airflow.configuration import conf  # type: ignore[assignment]
    from airflow.exceptions import (  # type: ignore[attr-defined,no-redef]
        AirflowException,
        AirflowFailException,
        AirflowSkipException,
        AirflowTaskTimeout,
        ParamValidationError,
        TaskDeferralTimeout,
    )
    from airflow.timetables.trigger import CronTriggerTimetable  # type: ignore[assignment]

__all__ = [
    "AirflowException", "AirflowFailException", "AirflowSkipException", "AirflowTaskTimeout", "CronTriggerTimetable",
    "ParamValidationError", "TaskDeferralTimeout", "conf",
]  # fmt: skip
