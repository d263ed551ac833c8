"""Runs of Airflow: whose attempts they work at, whether they still go on, and what their end leads to."""
