"""The DAG that removes raw files of old campaigns."""

from plimsoll_airflow.dags.common import make_retention

make_retention()
