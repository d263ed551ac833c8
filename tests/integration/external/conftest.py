"""A cluster of somebody else, with passwords and TLS, and what a user writes to measure it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.campaigns.local_definition import ANY_NOISE
from tests.support.nodes.guarded import DATA_CENTRE, Guarded, guarded_cluster
from tests.support.nodes.small import define
from tests.support.suite.requirements import IS_LONG

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.bootstrap import full_toolkit
from plimsoll.domain.campaign.resolve import product_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

NODES = 3 if IS_LONG else 1
KEYSPACE = "bench"


@pytest.fixture(scope="session")
def artefacts() -> Artefacts:
    """From the cache that the demo uses too: big downloads happen once on a machine."""
    artefacts = Artefacts(Settings().cache, print)
    artefacts.prepare_variants(product_spec(resolve(define()), "cassandra").variants)
    artefacts.prepare_program("load-generator")
    return artefacts


@pytest.fixture(scope="package")
def theirs(artefacts: Artefacts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded_cluster(artefacts, tmp_path_factory.mktemp("theirs"), NODES) as guarded:
        yield guarded


@dataclass(frozen=True)
class Site:
    """An installation of Plimsoll with a folder of its own, whose environment has the access to the cluster."""

    settings: Settings

    @property
    def tools(self) -> Toolkit:
        return full_toolkit(self.settings)


@pytest.fixture
def site(theirs: Guarded, tmp_path: Path) -> Callable[..., Site]:
    """`site(password="…")`: the installation, with one part of its access or another changed."""

    def made(**changes: Any) -> Site:
        access = theirs.access
        pem = {"authority": access.authority, "certificate": access.certificate, "key": access.key}
        given = {"user": access.user, "password": access.password, **pem, **changes}
        for name in [one for one in pem if given[one]]:
            (tmp_path / name).write_text(given[name])
            given[name] = tmp_path / name
        secrets = {f"database_{name}": value for name, value in given.items() if value}
        own: Any = {"store": str(tmp_path / "store"), "work": tmp_path / "work", "cache": Settings().cache}
        return Site(Settings.model_validate({**own, **secrets}))

    return made


@pytest.fixture
def definition(theirs: Guarded) -> Callable[..., Definition]:
    """`definition(options={…}, …)`: a cell of a few seconds, with keys and options of the provider changed."""

    def made(*, options: Any = (), **changes: Any) -> Definition:
        standard = {
            "contact_points": list(theirs.addresses),
            "data_centre": DATA_CENTRE,
            "connection": "theirs",
            "keyspace": KEYSPACE,
            "populate_rate": "500/s",
        }
        return Definition.model_validate(
            {
                "name": "external",
                "title": "A cluster of somebody else",
                "system": {"database": "external", "nodes": NODES},
                "variants": [{"id": "theirs"}],
                "loads": ["100/s"],
                "workload": {"name": "KeyValue", "rows": 500, "replication_factor": 1},
                "load_generator": {"threads": 2, "heap": "128M"},
                "timing": {"duration": "8s", "warmup": "2s"},
                "service_levels": [{"percentile": 99, "interval": "2s", "below": "5s"}],
                "disturbance": ANY_NOISE,
                "stop_when": [{"errors": "50%", "within": "20s"}],
                "provider": {"name": "external", "options": {**standard, **dict(options)}},
                **changes,
            }
        )

    return made
