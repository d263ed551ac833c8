"""The DAG of a cell."""

from plimsoll_airflow.dags.common import make_cell

make_cell()
