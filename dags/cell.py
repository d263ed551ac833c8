"""The DAG of a cell."""

from plimsoll_airflow.dags.cell import make_cell

make_cell()
