"""The DAG files as Airflow's DAG processor and workers see them."""

from pathlib import Path

import pytest
from airflow.models.dagbag import DagPriorityParsingRequest
from airflow.utils.session import create_session
from sqlalchemy import delete, select
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.dag_bag import DagBag, DagSerialization

from plimsoll.services.definitions.reference import dump_definition
from plimsoll_airflow.internals.dag_bundle import PlimsollBundle

DAGS = Path(__file__).resolve().parents[2] / "dags"
FILES = sorted(DAGS.glob("*.py"))


def parsed(file: str = "") -> DagBag:
    return DagBag(dag_folder=str(DAGS / file), bundle_path=DAGS, bundle_name="dags-folder")


def test_the_products_own_definitions_become_dags_without_errors() -> None:
    bag = parsed()

    assert bag.import_errors == {}
    assert set(bag.dags) == {
        "demo",
        "datastax_2021",
        "local_actions",
        "local_azul",
        "local_datastax",
        "local_n_1",
        "local_sberbank",
        "local_scylla",
        "local_tlp",
        "azul_2022",
        "azul_2022_n_1",
        "azul_2022_search",
        "sberbank_2020",
        "scylla_2021",
        "tlp_2020",
        "cell",
        "reaper",
    }


@pytest.mark.parametrize("dag_id", ["demo", "azul_2022", "cell", "reaper"])
def test_dags_survive_their_way_through_the_database(dag_id: str) -> None:
    dag = parsed().dags[dag_id]

    restored = DagSerialization.from_dict(DagSerialization.to_dict(dag))

    assert restored.task_ids == dag.task_ids
    assert restored.doc_md == dag.doc_md


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_dag_files_are_thin(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= 80


def test_parsing_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    heavy = ["great_expectations", "pandas", "altair", "numpy", "pyarrow", "boto3"]
    all_dag_files_do = "import sys; from plimsoll_airflow.dags import campaigns, common"
    shown = f"{all_dag_files_do}; print(*[name for name in {heavy} if name in sys.modules])"
    seen = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, timeout=120, check=True)

    assert seen.stdout.split("\n")[-2] == ""


def test_a_broken_definition_hides_no_other(installation: Installation) -> None:
    installation.define(instant_definition("sound"))
    installation.write_definition("broken", "name: broken\ntitle: x\nloads: [many]\n")

    bag = parsed()

    assert {"sound", "cell", "reaper"} == set(bag.dags)
    (file, error), *more = bag.import_errors.items()
    assert file == "definition_faults.py"
    assert not more
    assert "broken.yaml, loads[0] (line 3)" in error
    assert "'many' is not a rate like 20000/s" in error


def test_a_tag_longer_than_airflow_allows_hides_no_definition(installation: Installation) -> None:
    installation.define(instant_definition("sound").model_copy(update={"tags": ("jira-" * 21,)}))

    bag = parsed()

    assert bag.import_errors == {}
    assert bag.dags["sound"].tags == {"campaign", "jira-" * 20}


def test_every_broken_file_is_told_at_once(installation: Installation) -> None:
    installation.write_definition("no-yaml", "name: [")
    installation.write_definition("misnamed", _text(instant_definition("other")))
    installation.write_definition(
        "unscheduled", _text(instant_definition("unscheduled").model_copy(update={"schedule": "every morning"}))
    )
    installation.write_definition(
        "nowhere",
        _text(instant_definition("nowhere").model_copy(update={"schedule": "0 6 * * *", "timezone": "Mars/Base"})),
    )

    error = parsed().import_errors["definition_faults.py"]

    assert "no-yaml.yaml, line 1: is not YAML" in error
    assert "misnamed.yaml, name: is 'other' in a file called misnamed.yaml (allowed: misnamed)" in error
    assert "unscheduled.yaml, schedule: 'every morning' has 2 fields, not 5" in error
    assert "nowhere.yaml, timezone: 'Mars/Base' is no time zone" in error


def test_a_task_parses_the_definition_of_its_own_dag_only(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.define(instant_definition("mine"))
    installation.define(instant_definition("other"))
    _in_a_task_of(monkeypatch, "mine")

    assert set(parsed("campaigns.py").dags) == {"mine"}


@pytest.mark.parametrize(("dag_id", "made"), [("", {"mine", "cell", "reaper"}), ("mine", {"mine"}), ("cell", {"cell"})])
def test_one_line_in_a_dag_file_of_others_makes_every_dag(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dag_id: str, made: set[str]
) -> None:
    installation.define(instant_definition("mine"))
    file = tmp_path / "benchmarks.py"
    file.write_text("from plimsoll_airflow.dags import make_dags; make_dags()\n")
    if dag_id:
        _in_a_task_of(monkeypatch, dag_id)

    bag = DagBag(dag_folder=str(file), bundle_path=tmp_path, bundle_name="dags-folder")

    assert (set(bag.dags), bag.import_errors) == (made, {})
    assert {dag.fileloc for dag in bag.dags.values()} == {str(file)}


def test_a_bundle_finds_the_dag_files_of_the_installed_package() -> None:
    found = PlimsollBundle(name="plimsoll").path
    assert {file.name for file in found.glob("*.py")} == {file.name for file in DAGS.glob("*.py")}


def test_faults_stop_no_task(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    installation.write_definition("broken", "name: [")
    _in_a_task_of(monkeypatch, "mine")

    assert parsed("definition_faults.py").import_errors == {}


def _in_a_task_of(monkeypatch: pytest.MonkeyPatch, dag_id: str) -> None:
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", dag_id)


def _text(definition: object) -> str:
    from plimsoll.domain.definition.definition import Definition
    from plimsoll.services.definitions.reference import dump_definition

    assert isinstance(definition, Definition)
    return dump_definition(definition)


_QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/"


@pytest.mark.parametrize(
    ("triggers", "error"),
    [
        (("{asset: a, queue: {url: URLx}}", "{asset: a, queue: {url: URLx}}"), ""),
        (("{asset: a, queue: {url: URLx}}", "{asset: b, queue: {url: URLy}}"), ""),
        (("{asset: a}", "{asset: b, queue: {url: URLx}}"), ""),
        (("{asset: a, queue: {url: URLx}}", "{asset: a}"), "is not that of one.yaml, which begins by the same asset"),
        (
            ("{asset: a, queue: {url: URLx}}", "{asset: a, queue: {url: URLx, connection: other}}"),
            "is not that of one.yaml, which begins by the same asset",
        ),
        (
            ("{asset: a, queue: {url: URLx}}", "{asset: b, queue: {url: URLx}}"),
            "is also that of asset 'a' in one.yaml",
        ),
    ],
)
def test_definitions_that_do_not_agree_on_a_queue_are_named_with_a_mend(
    installation: Installation, triggers: tuple[str, str], error: str
) -> None:
    for name, trigger in zip(("one", "two"), triggers, strict=True):
        text = dump_definition(instant_definition(name)) + f"trigger: {trigger.replace('URL', _QUEUE)}\n"
        installation.write_definition(name, text)

    told = "".join(parsed("definition_faults.py").import_errors.values())
    assert bool(told) == bool(error)
    assert error in told
    assert not error or "two.yaml, trigger.queue: " in told
    assert not error or " in one.yaml and two.yaml, or another " in told


@pytest.mark.usefixtures("database")
def test_a_dag_that_events_begin_is_parsed_again_once_it_is_paused_or_unpaused(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Airflow watches queues of DAGs that were not paused when it parsed them."""
    unpaused: list[frozenset[str]] = [frozenset(), frozenset(), frozenset({"a"}), frozenset({"a"}), frozenset()]
    bundle = PlimsollBundle(name="of-this-test")
    assert bundle._begun_by_events() == frozenset()
    monkeypatch.setattr(PlimsollBundle, "_begun_by_events", lambda _: unpaused.pop(0))

    assert [_requests_after(bundle) for _ in tuple(unpaused)] == [False, False, True, False, True]
    installation.define(instant_definition("added"))
    unpaused.append(frozenset())
    assert _requests_after(bundle)


def _requests_after(bundle: PlimsollBundle) -> bool:
    """Refresh the bundle. Returns whether it has requested parsing."""
    bundle.refresh()
    with create_session() as session:
        of_bundle = DagPriorityParsingRequest.bundle_name == bundle.name
        asked = session.scalars(select(DagPriorityParsingRequest).where(of_bundle)).all()
        session.execute(delete(DagPriorityParsingRequest).where(of_bundle))
    return bool(asked)
