"""What the core gets from an installation of Airflow: its settings, definitions, keys, and imports made beforehand."""
