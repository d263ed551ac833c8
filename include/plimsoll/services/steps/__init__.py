"""The steps of an attempt in their order, and how they run without Airflow."""
