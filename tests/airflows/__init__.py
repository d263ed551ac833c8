"""Plimsoll as it is installed into an Airflow of others: `make test-airflows`."""
