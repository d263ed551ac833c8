"""The life of a cell: its steps, what each one does, and how they run without Airflow."""
