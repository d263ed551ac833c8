"""`plimsoll doctor --airflow`: what an Airflow lacks to run campaigns, and how to mend it."""

from collections.abc import Iterator

import pytest
from airflow.models.dag import DagModel
from airflow.models.dagbundle import DagBundleModel
from airflow.models.pool import Pool
from airflow.utils.session import create_session
from sqlalchemy import delete, select, update
from tests.fakes.installation import Installation, instant_definition
from typer.testing import CliRunner

from plimsoll.cli import cli
from plimsoll.domain.text.errors import Finding
from plimsoll_airflow import checks
from plimsoll_airflow.internals import inventory


@pytest.fixture
def bare(database: None, installation: Installation) -> Iterator[Installation]:
    """Provide an Airflow with a definition of 6 cells but no DAGs and pool; afterwards, what there was before."""
    installation.define(instant_definition("mine", variants=3, loads=2, repeats=1))
    with create_session() as session:
        # Not deleted: other tests' runs refer to them.
        there = session.scalars(select(DagModel.dag_id).where(DagModel.is_stale.is_(False))).all()
        session.execute(update(DagModel).values(is_stale=True))
        session.execute(delete(Pool).where(Pool.pool == "clusters"))
    yield installation
    with create_session() as session:
        session.execute(update(DagModel).values(is_stale=DagModel.dag_id.not_in(there)))
    Pool.create_or_update_pool("clusters", slots=8, description="", include_deferred=True)


def found() -> dict[str, Finding]:
    return {finding.name: finding for finding in checks.examine()}


def to_mend() -> set[str]:
    return {name for name, finding in found().items() if not finding.ok}


def add_dags() -> None:
    with create_session() as session:
        session.merge(DagBundleModel(name="dags-folder"))
        session.flush()
        for name in ("cell", "reaper"):
            session.merge(DagModel(dag_id=name, bundle_name="dags-folder", is_paused=False, is_stale=False))  # type: ignore[no-untyped-call]


@pytest.mark.usefixtures("bare")
def test_what_a_new_airflow_lacks_is_named_with_how_to_mend_it() -> None:
    assert to_mend() == {"DAG cell", "DAG reaper", "pool clusters", "triggerers"}
    assert "pools set --include-deferred clusters" in found()["pool clusters"].mend
    assert "make_dags()" in found()["DAG cell"].mend


@pytest.mark.usefixtures("bare")
def test_a_pool_that_does_not_count_waiting_tasks_is_no_limit() -> None:
    Pool.create_or_update_pool("clusters", slots=4, description="", include_deferred=False)
    assert found()["pool clusters"].found == "4 slots, deferred tasks do not count, so it limits nothing"
    assert not found()["pool clusters"].ok


@pytest.mark.usefixtures("bare")
def test_triggerers_and_runs_must_suffice_for_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "living_triggerers", lambda: 1)
    monkeypatch.setenv("AIRFLOW__TRIGGERER__CAPACITY", "200")
    add_dags()
    Pool.create_or_update_pool("clusters", slots=64, description="", include_deferred=True)
    assert to_mend() == set()
    Pool.create_or_update_pool("clusters", slots=101, description="", include_deferred=True)
    assert to_mend() == {"triggerers", "runs of cells"}
    assert found()["runs of cells"].mend == "set PLIMSOLL_CELL_RUNS=101 or more"


@pytest.mark.usefixtures("bare")
def test_a_definition_with_more_cells_than_a_run_may_have_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__CORE__MAX_MAP_LENGTH", "5")
    assert found()["map length"].found == "5 cells in a run; mine has 6"
    assert not found()["map length"].ok


def test_a_faulty_definition_is_told_with_its_line(bare: Installation) -> None:
    bare.write_definition("broken", "name: broken\ntitle: x\nloads: [many]\n")
    assert "broken.yaml, loads[0] (line 3)" in found()["definitions"].found


@pytest.mark.usefixtures("bare")
def test_where_tasks_run_on_several_machines_folders_of_one_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__CORE__EXECUTOR", "CeleryExecutor")
    assert found()["store"].is_note
    monkeypatch.setenv("PLIMSOLL_STORE", "s3://bucket/prefix")
    assert "store" not in found()


@pytest.mark.usefixtures("bare")
def test_the_command_fails_where_something_must_be_mended() -> None:
    result = CliRunner().invoke(cli, ["doctor", "--airflow"])
    assert result.exit_code == 1
    assert "MEND  pool clusters: there is none" in result.output
    assert "ok    plugin: plimsoll_airflow.plugin:PlimsollPlugin" in result.output
