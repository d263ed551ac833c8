"""A node of their own for the timed tests: the one of the tests before them is dead."""

from collections.abc import Iterator

import pytest
from tests.integration.stress.node import Node, running_node

from plimsoll.adapters.artefacts import Artefacts


@pytest.fixture(scope="package")
def node(artefacts: Artefacts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """Provide a node for all tests, which leave it as it was."""
    with running_node(artefacts, tmp_path_factory.mktemp("cluster")) as running:
        yield running
