"""The DAG that reports scheduled campaigns which did not start."""

from plimsoll_airflow.dags.common import make_schedules

make_schedules()
