"""The demo cut down to what a test can wait for: real nodes on this machine, one load, two judged intervals."""

from collections.abc import Mapping
from typing import Any

from plimsoll.bootstrap import load_definition
from plimsoll.domain.definition import Definition
from plimsoll.settings import Settings

# A bound that the load generator's own standstills don't reach.
LITTLE: Mapping[str, Any] = {
    "loads": ["200/s"],
    "timing": {"duration": "30s", "warmup": "10s"},
    "service_levels": [{"percentile": 99.9, "interval": "10s", "below": "2s"}],
}


def local_definition(name: str, *, variants: int) -> Definition:
    """A cell for each of the demo's first so many variants."""
    demo = load_definition(Settings(), "demo").model_dump(mode="json")
    return Definition.model_validate({**demo, **LITTLE, "name": name, "variants": demo["variants"][:variants]})
