"""A small HBase on loopback addresses."""

from typing import Any

from tests.support.campaigns.local_definition import ANY_NOISE
from tests.support.nodes.small import QUICK

from plimsoll.domain.definition.definition import Definition


def define(nodes: int, settings: dict[str, Any] | None = None, **changes: Any) -> Definition:
    """Return a definition of it with one variant."""
    system = {
        "database": "hbase",
        "version": "2.6.4-hadoop3",
        "nodes": nodes,
        "start_within": "14m",
        "settings": {"dfs.replication": 2, **(settings or {})},
    }
    return Definition.model_validate(
        {
            "name": "small",
            "title": "Small",
            "system": system,
            "variants": [{"id": "v", "jvm": {"jdk": "openjdk-17.0.9", "collector": "G1", "heap": "256M", **QUICK}}],
            "loads": ["200/s"],
            "timing": {"duration": "6s", "warmup": "1s"},
            "service_levels": [{"interval": "1s"}],
            "disturbance": ANY_NOISE,
            **changes,
        }
    )
