"""The least of a definition: one variant, one load."""

from typing import Any

from plimsoll.domain.definition.definition import Definition


def one_variant(**keys: Any) -> Definition:
    """Return the definition with these keys; 40 s of load, of which 10 s are warm-up, unless they say otherwise."""
    return Definition.model_validate(
        {
            "name": "small",
            "title": "Small",
            "system": {"version": "4.0.1"},
            "variants": [{"id": "g1", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M"}}],
            "loads": ["100/s"],
            "timing": {"duration": "40s", "warmup": "10s"},
            **keys,
        }
    )
