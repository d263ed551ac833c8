"""A small demo that a test can wait for: real nodes on this machine, one load, two judged intervals."""

from collections.abc import Mapping
from typing import Any

from tests.support.campaigns.small_definition import SMALL

from plimsoll.bootstrap import load_definition
from plimsoll.domain.definition.definition import Definition
from plimsoll.settings import Settings

ANY_NOISE: Mapping[str, Any] = {"foreign_cpu": "100%", "steal": "100%", "throttled": "100%", "tries": 1}
"""Bounds of noise for cells of which a miss is good enough: other tests keep the processors busy all the time."""

# A bound that stalls of the load generator do not reach, not even while other tests run.
LITTLE: Mapping[str, Any] = {
    "loads": ["200/s"],
    "timing": {"duration": "30s", "warmup": "10s"},
    "service_levels": [{"percentile": 99.9, "interval": "10s", "below": "5s"}],
    "disturbance": ANY_NOISE,
}
ONE_INTERVAL: Mapping[str, Any] = {"timing": {"duration": "15s", "warmup": "5s"}}
"""For tests that need only one judged interval."""


def local_definition(name: str, *, variants: int, nodes: int = 3) -> Definition:
    """Return a cell for each of that many first variants of the small definition, with all rows on all nodes."""
    demo = load_definition(Settings(), str(SMALL)).model_dump(mode="json")
    fewer = {
        "name": name,
        "variants": demo["variants"][:variants],
        "system": {**demo["system"], "nodes": nodes},
        "workload": {**demo["workload"], "replication_factor": nodes},
    }
    return Definition.model_validate({**demo, **LITTLE, **fewer})
