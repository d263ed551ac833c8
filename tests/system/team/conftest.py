"""One team's Airflow for all tests here: CeleryExecutor, two workers, PostgreSQL, Redis; instant clusters, and
a real one where a definition asks for it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.fakes.gated import Gates
from tests.fakes.gated_and_local import toolkit
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.team_stack import REDIS, Team, running_team
from tests.support.campaigns.local_definition import ONE_INTERVAL, local_definition
from tests.support.suite.requirements import needs

from plimsoll.domain.definition.definition import Definition
from plimsoll.settings import Settings

_SCHEDULED = {"schedule": "0 3 * * *", "timezone": "Europe/Paris"}
_MINUTELY = {"schedule": "* * * * *", "notify": ("missed-schedule", "incomplete")}
PHASES = ("provision", "deploy", "start", "collect", "judge", "destroy")
"""Those of a cell in which a worker works at it."""
DEFINITIONS = (
    instant_definition("held", variants=1, loads=len(PHASES), parallel=len(PHASES)),
    instant_definition("again", variants=1, loads=2, parallel=2),
    instant_definition("nightly", variants=2, loads=1, parallel=2).model_copy(update=_SCHEDULED),
    instant_definition("minutely", variants=1, loads=1).model_copy(update=_MINUTELY),
    Definition.model_validate(local_definition("real", variants=1, nodes=1).model_dump(mode="json") | ONE_INTERVAL),
)

# A dead worker is noticed by its silence, and what it had is given to another one. Shipped settings wait longer.
_PROMPT = {
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "30",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "3",
    "AIRFLOW__CELERY_BROKER_TRANSPORT_OPTIONS__VISIBILITY_TIMEOUT": "40",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add the marks that all of them want."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(1200))
            item.add_marker(needs(REDIS is not None, "the broker is redis-server"))


@pytest.fixture(scope="package")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("plimsoll"), toolkit)
    for definition in DEFINITIONS:
        made.define(definition)
    return made


@pytest.fixture(scope="package")
def definitions() -> Mapping[str, Definition]:
    return {definition.name: definition for definition in DEFINITIONS}


@pytest.fixture(scope="package")
def phases() -> Sequence[str]:
    return PHASES


@pytest.fixture(scope="package")
def gates(installation: Installation) -> Gates:
    return Gates(installation.folder / "work" / "gates")


@pytest.fixture(scope="package")
def notices(installation: Installation) -> Path:
    """Provide the file that notices are written to."""
    return installation.folder / "told"


@pytest.fixture(scope="package")
def team(
    installation: Installation, notices: Path, tmp_path_factory: pytest.TempPathFactory, checkout: Path
) -> Iterator[Team]:
    text = "{{ notice_title }}\n{{ notice }}"
    notifier = {"notifier": "tests.fakes.notifier.ToFile", "path": str(notices), "text": text}
    environment = {
        **installation.environment,
        # Databases and JDKs come from the cache that `make demo` fills too.
        "PLIMSOLL_CACHE": str(Settings().cache),
        **_PROMPT,
        "PLIMSOLL_NOTIFIER": json.dumps(notifier),
        "PYTHONPATH": str(checkout),
    }
    dag_ids = [*(definition.dag_id for definition in DEFINITIONS), "cell", "schedules"]
    with running_team(tmp_path_factory.mktemp("team"), env=environment, dag_ids=dag_ids) as running:
        running.client.set_pool("clusters", 8, "How many clusters may live at once")
        yield running
