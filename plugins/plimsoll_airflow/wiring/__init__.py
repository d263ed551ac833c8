"""What the core gets from an installation of Airflow: its settings, definitions and keys."""
