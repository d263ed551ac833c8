"""The DAG that destroys clusters without an owner."""

from plimsoll_airflow.dags.common import make_reaper

make_reaper()
