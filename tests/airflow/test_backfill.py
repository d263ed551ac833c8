"""`airflow backfill create`, word for word as the operations' document gives it, on a scheduled definition's DAG."""

import re
import shlex
import signal
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from airflow.api.common.delete_dag import delete_dag
from airflow.cli import cli_parser
from airflow.models.backfill import Backfill
from airflow.models.dagbundle import DagBundleModel
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from sqlalchemy import select, update
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.dag_bag import DagBag, sync_bag_to_db
from tests.support.processes import CHECKOUT

SCHEDULED = {"schedule": "0 3 * * *", "timezone": "Europe/Paris"}
DAG_ID = "azul_2022"
FAILED, MET = "2026-01-05", "2026-01-06"
TIMES = [datetime(2026, 1, day, 2, tzinfo=UTC) for day in range(5, 12)]
"""When the schedule was due between the document's dates: 3:00 in Paris."""


@pytest.fixture(autouse=True)
def _scheduled(database: None, installation: Installation) -> Iterator[None]:
    """Provide the DAG of the document's definition, which has never run."""
    installation.define(instant_definition("azul-2022").model_copy(update=SCHEDULED))
    dags, handler = CHECKOUT / "dags", signal.getsignal(signal.SIGTERM)
    bag = DagBag(dag_folder=str(dags / "campaigns.py"), bundle_path=dags, bundle_name="dags-folder")
    with create_session() as session:
        session.merge(DagBundleModel(name="dags-folder"))
    sync_bag_to_db(bag, "dags-folder", None)
    yield
    signal.signal(signal.SIGTERM, handler)  # the command takes it
    delete_dag(DAG_ID)


def test_it_runs_what_the_schedule_missed_and_with_failed_what_failed_of_that(command: str) -> None:
    create(command.replace(" --reprocess-behavior failed", ""))
    created = runs()
    end(FAILED, "failed")
    end(MET, "success")

    create(command)

    assert [(state, due) for state, due, _ in created] == [("queued", due) for due in TIMES]
    assert all(run_id.startswith("backfill__") for *_, run_id in created)
    after = {run_id: state for state, _, run_id in runs()}
    assert list(after) == [run_id for *_, run_id in created]
    assert list(after.values())[:2] == ["queued", "success"]


@pytest.fixture
def command() -> str:
    """Read it in the document."""
    found = re.search(
        r"^ +(airflow backfill create .*)$", (CHECKOUT / "docs/guides/operations.md").read_text(), re.MULTILINE
    )
    assert found is not None
    assert "--reprocess-behavior failed" in found[1]
    return found[1]


def create(command: str) -> None:
    """Run the command in this process."""
    arguments = cli_parser.get_parser().parse_args(shlex.split(command)[1:])
    arguments.func(arguments)


def runs() -> list[tuple[str, datetime | None, str]]:
    """Return state, time and id of each run of the DAG; other tests' DAGs have runs in the same database."""
    with create_session() as session:
        found = session.scalars(select(DagRun).where(DagRun.dag_id == DAG_ID).order_by(DagRun.logical_date)).all()
        return [(str(run.state), run.logical_date, run.run_id) for run in found]


def end(day: str, state: str) -> None:
    """End that day's run in this state, and with it the backfill."""
    with create_session() as session:
        of_day = (DagRun.dag_id == DAG_ID, DagRun.run_id.contains(day))
        # Else SQLAlchemy 1.4, which Airflow 3.1 may have, looks for such runs among those in memory too, and can't.
        option = {"synchronize_session": False}
        session.execute(update(DagRun).where(*of_day).values(state=state).execution_options(**option))
        session.execute(update(Backfill).where(Backfill.dag_id == DAG_ID).values(completed_at=datetime.now(UTC)))
