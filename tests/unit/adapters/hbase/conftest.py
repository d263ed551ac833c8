from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.clock import SteppingClock
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.products.hbase import HBase
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import HostInfo

RELEASE = "2.6.4-hadoop3"


@pytest.fixture
def nodes(tmp_path: Path) -> list[ScriptedHost]:
    return [
        ScriptedHost(
            tmp_path / f"node{n}",
            HostInfo(name=f"node{n}", role="node", address=f"127.9.9.{n}", facts={"machine": "this one"}),
        )
        for n in (1, 2, 3)
    ]


@pytest.fixture
def load(tmp_path: Path) -> ScriptedHost:
    return ScriptedHost(tmp_path / "load", HostInfo(name="load", role="load", address="127.9.9.250"))


@pytest.fixture
def product(tmp_path: Path) -> HBase:
    return HBase(EmptyArtefacts(tmp_path / "artefacts", {"4.0.1", RELEASE}), SteppingClock())


@pytest.fixture
def define() -> Callable[..., Definition]:
    """Provide a definition of Cassandra and HBase; `variant` and `system` change HBase's variant and the system."""

    def build(*, variant: Any = None, workload: Any = None, **system: Any) -> Definition:
        jvm = {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M"}
        hbase = {"id": "hbase", "product": "hbase", "version": RELEASE, "jvm": jvm, **(variant or {})}
        return Definition.model_validate(
            {
                "name": "mixed",
                "title": "Cassandra and HBase",
                "system": {"version": "4.0.1", "nodes": 3, **system},
                "variants": [{"id": "cassandra", "jvm": jvm}, hbase],
                "loads": ["1000/s"],
                "workload": {"replication_factor": 1} if workload is None else workload,
                "timing": {"duration": "20m", "warmup": "5m"},
            }
        )

    return build
