"""A definition for EC2 that fits a test cloud."""

from typing import Any

from tests.cloud.landscape import Landscape

from plimsoll.domain.definition.definition import Definition
from plimsoll.services.definitions.reference import parse_definition

_YAML = """
name: azul
title: A campaign on EC2
system: {database: cassandra, version: 4.0.1, nodes: 3}
variants: [{id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 40G}}]
loads: [20000/s, 40000/s, 60000/s]
timing: {duration: 150m, warmup: 30m}
max_parallel: 8
provider: {name: ec2}
"""


def ec2_options(landscape: Landscape, **changes: Any) -> dict[str, Any]:
    """Return the provider's options. An option that is changed to None is left out."""
    options = {
        "region": landscape.region,
        "subnets": list(landscape.subnets.values()),
        "security_group": landscape.security_group,
        "image": landscape.image_parameter,
        "instance_types": {"node": "r5d.2xlarge", "load": "c5.2xlarge"},
        **changes,
    }
    return {name: value for name, value in options.items() if value is not None}


def ec2_definition(landscape: Landscape, budget: float | None = None, **changes: Any) -> Definition:
    """Return a definition of three cells, each on a cluster of three nodes."""
    definition = parse_definition(_YAML, "azul.yaml")
    provider = definition.provider.model_copy(update={"options": ec2_options(landscape, **changes)})
    return definition.model_copy(update={"provider": provider, "budget": budget})
