"""The life of a cell: the steps that it consists of, what each does, and how they are run without Airflow."""
