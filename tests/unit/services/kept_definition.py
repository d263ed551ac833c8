"""A definition whose hosts are kept from cell to cell."""

from tests.fakes.installation import instant_definition

from plimsoll.domain.definition.definition import Definition

CELLS = ("v1-001k-r1", "v2-001k-r1", "v1-002k-r1")


def kept(scope: str, **changes: object) -> Definition:
    """Define two variants at two loads on hosts that live so long."""
    plain = instant_definition(variants=2, loads=2, parallel=1)
    return Definition.model_validate({**plain.model_dump(mode="json"), "cluster_scope": scope, **changes})
