"""Variables, for the process that makes one. Read in Airflow 3.3.2."""

from contextlib import suppress


def ensure_variable(key: str, value: str, description: str) -> str:
    """Return the value of a Variable in the metadata database, made if there is none.

    Of several processes, one makes it. Uses the model `Variable` and `create_session`: the scheduler's own look-up,
    `airflow.sdk.Variable`, leaves the database out until the scheduler has started.
    """
    from airflow.models.variable import Variable
    from airflow.utils.session import create_session
    from sqlalchemy import select
    from sqlalchemy.exc import IntegrityError

    with suppress(IntegrityError), create_session(scoped=False) as session:
        if session.scalar(select(Variable.id).where(Variable.key == key)) is None:
            session.add(Variable(key=key, val=value, description=description))  # type: ignore[no-untyped-call]
    with create_session(scoped=False) as session:
        return str(session.scalars(select(Variable).where(Variable.key == key)).one().val or "")
