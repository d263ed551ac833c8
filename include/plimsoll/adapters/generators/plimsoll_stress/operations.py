"""The operations of a definition's workload, with the share of the load that each has."""

from collections.abc import Mapping

from pydantic import JsonValue

from plimsoll.adapters.generators.plimsoll_stress.catalogue import WorkloadDescription, catalogue
from plimsoll.adapters.generators.workload_options import given_options, number_of
from plimsoll.domain.workload import Workload


def shares(workload: Workload) -> dict[str, float]:
    """Return operation → share of all operations, 0 to 1.

    Empty for a workload that the load generator does not have.
    """
    described = catalogue().by_name.get(workload.name)
    if described is None:
        return {}
    given = given_options(workload)
    weights = _declared(given) if not described.operations else _weights(described, given)
    told = sum(weight for weight in weights.values() if weight is not None)
    if None in weights.values():
        return {name: 1 - told if weight is None else weight for name, weight in weights.items()}
    return {name: (weight or 0) / told for name, weight in weights.items()} if told else {}


def _weights(described: WorkloadDescription, given: Mapping[str, JsonValue]) -> dict[str, float | None]:
    """Return the weights of operations; None stands for the rest."""
    weights: dict[str, float | None] = {}
    for operation in described.operations:
        share = operation.share
        if isinstance(share, str):
            weights[operation.name] = None
        elif "weight" in share:
            weights[operation.name] = float(str(share["weight"]))
        else:
            option = described.option(str(share["option"]))
            assert option is not None, f"{described.name}: a share by an option that it does not have"
            weights[operation.name] = number_of(option, given.get(option.name, option.default))
    return weights


def _declared(given: Mapping[str, JsonValue]) -> dict[str, float | None]:
    """Return the shares of operations that the definition declares itself."""
    operations = given.get("operations")
    found: dict[str, float | None] = {}
    for operation in operations if isinstance(operations, list) else []:
        if isinstance(operation, dict) and isinstance(share := operation.get("share", 0), int | float):
            found[str(operation.get("name"))] = float(share)
    return found
