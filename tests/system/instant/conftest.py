"""One Airflow for all tests here: instant clusters with gates. Each module has definitions of its own.

Faults are planted by cell, whatever its campaign: each module heals what it has planted.
"""

from collections.abc import Iterator

import pytest
from tests.fakes.gated import Gates, toolkit
from tests.fakes.installation import Installation
from tests.support.airflow.stack import StackUnderTest, running_stack
from tests.support.processes import SOURCES
from tests.system.instant.definitions import DEFINITIONS

from plimsoll.services.definitions.reference import dump_definition

USERS = "admin:admin,ada:user,vera:viewer"


@pytest.fixture(scope="package")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("plimsoll"), toolkit)
    for definition in DEFINITIONS.values():
        # What is written is a campaign's own copy, which has no references; this is a definition that somebody wrote.
        made.write_definition(definition.name, dump_definition(definition).replace("$$(", "$("))
    return made


@pytest.fixture(scope="package")
def gates(installation: Installation) -> Gates:
    return Gates(installation.folder / "work" / "gates")


@pytest.fixture(scope="package")
def shared_airflow(tmp_path_factory: pytest.TempPathFactory, installation: Installation) -> Iterator[StackUnderTest]:
    """Provide one with the DAGs of all definitions. Each module sets the pool `clusters` to what it needs."""
    environment = {
        **installation.environment,
        "PYTHONPATH": SOURCES,
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": USERS,
    }
    dag_ids = [*(definition.dag_id for definition in DEFINITIONS.values()), "cell", "reaper"]
    with running_stack(tmp_path_factory.mktemp("stack"), env=environment, dag_ids=dag_ids) as running:
        yield running
