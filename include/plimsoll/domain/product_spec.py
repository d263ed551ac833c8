"""What a product is asked for. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from pydantic import JsonValue

from plimsoll.domain.database_command import DatabaseCommand
from plimsoll.domain.variant import Variant


@dataclass(frozen=True)
class VariantSpec:
    """A variant, as somebody wrote it, with all that it has from its system: what is deployed for one cell.

    `settings`: the system's and its own. `where`: its place in the definition; `version_key`: the key that names its
    release. `start_within`: longest time for all nodes to start; None: the product's own.
    """

    variant: Variant
    where: str
    product: str
    version: str
    version_key: str
    settings: Mapping[str, JsonValue]
    nodes: int
    replicas: int
    start_within: timedelta | None = None
    command: DatabaseCommand | None = None


@dataclass(frozen=True)
class ProductSpec:
    """A product and the variants that run it. `name`: the definition's, for advice to people; `key`: the key that names
    the product; `settings`: those that the system gives to each of its variants.
    """

    name: str
    key: str
    settings: Mapping[str, JsonValue]
    command: DatabaseCommand | None
    variants: tuple[VariantSpec, ...]
