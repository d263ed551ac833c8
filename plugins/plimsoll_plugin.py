"""The one entry file of Plimsoll's Airflow plugin; everything else is in the package `plimsoll_airflow`."""

from airflow.plugins_manager import AirflowPlugin

from plimsoll_airflow import warmup


class PlimsollPlugin(AirflowPlugin):
    """What Plimsoll adds to Airflow."""

    name = "plimsoll"
    listeners = [warmup]
