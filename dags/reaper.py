"""The DAG that destroys clusters without an owner."""

from plimsoll_airflow.dags.reaper import make_reaper

make_reaper()
