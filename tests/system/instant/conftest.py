"""One Airflow for all tests here: instant clusters with gates. Each module has definitions of its own.

Faults are planted by cell, whatever its campaign: each module heals what it has planted.
"""

from collections.abc import Iterator

import pytest
from tests.fakes.gated import Gates, toolkit
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.stack import SOURCES, StackUnderTest, running_stack

from plimsoll.domain.strategy import Search

DEFINITIONS = {
    definition.name: definition
    for definition in (
        instant_definition("many", variants=2, loads=2, repeats=2, parallel=3),
        instant_definition("few", variants=1, loads=4, parallel=4),
        instant_definition("calm", variants=1, loads=2),
        instant_definition("storm", variants=2, loads=2),
        instant_definition("by-rest", variants=1, loads=2),
        instant_definition("kept", variants=1, loads=2, parallel=1).model_copy(
            update={"strategy": Search(), "cluster_scope": "campaign"}
        ),
        instant_definition("sought", variants=1, loads=3, repeats=2).model_copy(update={"strategy": Search()}),
    )
}
USERS = "admin:admin,ada:user,vera:viewer"


@pytest.fixture(scope="package")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("plimsoll"), toolkit)
    for definition in DEFINITIONS.values():
        made.define(definition)
    return made


@pytest.fixture(scope="package")
def gates(installation: Installation) -> Gates:
    return Gates(installation.folder / "work" / "gates")


@pytest.fixture(scope="package")
def shared_airflow(tmp_path_factory: pytest.TempPathFactory, installation: Installation) -> Iterator[StackUnderTest]:
    """With the DAGs of all definitions. Each module sets the pool `clusters` to what it needs."""
    environment = {
        **installation.environment,
        "PYTHONPATH": SOURCES,
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": USERS,
    }
    dag_ids = [*(definition.dag_id for definition in DEFINITIONS.values()), "cell", "reaper"]
    with running_stack(tmp_path_factory.mktemp("stack"), env=environment, dag_ids=dag_ids) as running:
        yield running
