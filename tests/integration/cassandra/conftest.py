"""Real nodes on loopback addresses. Every cluster is destroyed after its test, and that is verified by the provider."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from tests.support.nodes.small import Deployment, define, provided

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.domain.campaign.resolve import product_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.settings import Settings


@pytest.fixture(scope="session")
def artefacts() -> Artefacts:
    """From the cache that the demo uses too: big downloads happen once on a machine."""
    artefacts = Artefacts(Settings().cache, print)
    artefacts.prepare_variants(product_spec(resolve(define()), "cassandra").variants)
    artefacts.prepare_program("node-tool")
    return artefacts


@pytest.fixture(scope="session")
def hosts_for(
    artefacts: Artefacts, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., AbstractContextManager[Deployment]]:
    """`hosts_for(definition, cell_id)`: a context with the hosts of a fresh cluster."""

    def context(definition: Definition, cell_id: str = "cell") -> AbstractContextManager[Deployment]:
        return provided(artefacts, tmp_path_factory.mktemp("clusters"), definition, cell_id)

    return context
