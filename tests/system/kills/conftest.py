"""One Airflow for all kills. What died is started again before a test goes on, so that the next one finds all of it."""

from collections.abc import Iterator

import pytest
from tests.fakes.gated import toolkit
from tests.fakes.installation import Installation
from tests.support.airflow.kill_scene import Scene
from tests.support.airflow.restarts import kept_running
from tests.support.airflow.stack import running_stack
from tests.support.processes import SOURCES
from tests.system.kills.definitions import DEFINITIONS

# How often Airflow looks for the dead. How long they must be silent stays as shipped: a busy machine is not dead.
_PROMPT = {
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "3",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "3",
    "AIRFLOW__CORE__PARALLELISM": "24",
}


@pytest.fixture(scope="package")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("plimsoll"), toolkit)
    for definition in DEFINITIONS.values():
        made.define(definition)
    return made


@pytest.fixture(scope="package")
def scene(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    environment = {**installation.environment, **_PROMPT, "PYTHONPATH": SOURCES}
    dag_ids = [*(definition.dag_id for definition in DEFINITIONS.values()), "cell"]
    with running_stack(tmp_path_factory.mktemp("stack"), env=environment, dag_ids=dag_ids) as airflow:
        airflow.client.set_pool("clusters", 24, "How many clusters may live at once")
        with kept_running(airflow) as restarted:
            yield Scene(airflow, installation, restarted)
