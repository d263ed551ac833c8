"""What load generators have in common that speak CQL and no other protocol."""

from collections.abc import Iterator

from plimsoll.domain.cql import CQL
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.protocols import protocol_of


def protocol_problems(definition: Definition, generator: str) -> Iterator[Problem]:
    """Yield a problem for each product whose clients speak something else than CQL, which the generator can't."""
    for product in definition.products:
        if (protocol := protocol_of(product)) != CQL:
            what = f"{generator} speaks {CQL}, and not {protocol}, as clients of {product} do"
            yield Problem(definition.key_of_product(product), what, "take plimsoll-stress for the load")
