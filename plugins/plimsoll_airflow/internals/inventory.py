"""What an Airflow's database says of its pools, triggerers and DAGs. Read in Airflow 3.3.2, 3.2.2 and 3.1.8.

Uses the models `Pool`, `Job` and `DagModel`: the command line has no token for the REST API, and may run where no
api-server can be reached.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class PoolSize:
    """A pool's slots, and whether tasks that wait in a triggerer take one."""

    slots: int
    counts_deferred: bool


def pool_size(name: str) -> PoolSize | None:
    """Return the size of the pool; None where there is none."""
    from airflow.models.pool import Pool
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        found = session.scalar(select(Pool).where(Pool.pool == name))
        return PoolSize(found.slots, found.include_deferred) if found else None


def living_triggerers() -> int:
    """Return how many triggerers have sent a heartbeat lately."""
    from airflow.jobs.job import Job
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        found = session.scalars(select(Job).where(Job.job_type == "TriggererJob", Job.state == "running"))
        return sum(job.is_alive() for job in found)


def is_paused(dag_id: str) -> bool | None:
    """Tell whether the DAG is paused; None where there is no such DAG (any more)."""
    from airflow.models.dag import DagModel

    dag = DagModel.get_current(dag_id)
    return None if dag is None or dag.is_stale else dag.is_paused
