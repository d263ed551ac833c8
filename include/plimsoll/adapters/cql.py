"""What products and load generators have in common that speak CQL and no other protocol."""

from collections.abc import Iterator

from plimsoll.domain.cql import CQL
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.workload import Workload


def protocol_problems(definition: Definition, speaker: str) -> Iterator[Problem]:
    """Yield a problem for each workload whose clients are to speak something else than CQL with `speaker`."""
    several: dict[str, Workload] = {f"workloads[{number}]": one for number, one in enumerate(definition.workloads)}
    for where, workload in (several or {"workload": definition.workload}).items():
        if workload.protocol != CQL:
            what = f"{speaker} speaks {CQL}, and not {workload.protocol}"
            yield Problem(f"{where}.protocol", what, "remove the key, or choose what speaks that protocol")
