"""One DAG per definition."""

from plimsoll_airflow.dags.campaigns import make_campaigns

make_campaigns()
