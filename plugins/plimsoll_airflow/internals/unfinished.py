"""Unfinished runs and tasks in Airflow's own tables, left by a stop or a crash. Read in Airflow 3.3.2.

Uses the tables `dag_run` and `task_instance`, because no Airflow runs that could be asked by its API.
"""

CLOSE_UNFINISHED_RUNS = """
update task_instance set state = 'failed', end_date = now(), trigger_id = null
    where state not in ('success', 'failed', 'skipped', 'upstream_failed', 'removed')
    and run_id in (select run_id from dag_run where state in ('queued', 'running'));
update dag_run set state = 'failed', end_date = now() where state in ('queued', 'running') returning id;
"""
"""Marks those runs and tasks as failed; answers with a line for each run."""
