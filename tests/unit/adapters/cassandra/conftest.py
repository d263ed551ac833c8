from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import HostInfo


@pytest.fixture
def artefacts(tmp_path: Path) -> EmptyArtefacts:
    return EmptyArtefacts(tmp_path / "artefacts")


@pytest.fixture
def nodes(tmp_path: Path) -> list[Any]:
    return [
        ScriptedHost(tmp_path / f"node{n}", HostInfo(name=f"node{n}", role="node", address=f"127.9.9.{n}"))
        for n in (1, 2, 3)
    ]


@pytest.fixture
def load(tmp_path: Path) -> ScriptedHost:
    return ScriptedHost(tmp_path / "load", HostInfo(name="load", role="load", address="127.9.9.250"))


@pytest.fixture
def define() -> Callable[..., Any]:
    """Provide a definition of one variant; `jvm`, `variant` and whatever else is over the defaults."""

    def build(*, jvm: Any = None, variant: Any = None, **changes: Any) -> Definition:
        one = {"id": "g1", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M", **(jvm or {})}}
        return Definition.model_validate(
            {
                "name": "small",
                "title": "Small",
                "system": {"version": "4.0.1"},
                "variants": [{**one, **(variant or {})}],
                "loads": ["100/s"],
                "timing": {"duration": "40s", "warmup": "10s"},
                **changes,
            }
        )

    return build
