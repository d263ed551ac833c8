"""What the clients of each product speak, and with which options of the workload: for plan, page and report. Pure."""

from dataclasses import dataclass

from pydantic import JsonValue

from plimsoll.domain.cql import CQL
from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import parts
from plimsoll.domain.protocols import UNKNOWN


@dataclass(frozen=True)
class Clients:
    """The clients of one product with one workload. `workload` is empty where the campaign has only one."""

    product: str
    protocol: str
    workload: str
    options: dict[str, JsonValue]

    @property
    def words(self) -> str:
        """Return the options as text: `regions 8, compression GZ`."""
        return ", ".join(f"{name} {value}" for name, value in self.options.items())

    def __str__(self) -> str:
        """Return one sentence: `clients of hbase speak hbase with kv: regions 8, compression GZ`."""
        workload = f" with {self.workload}" if self.workload else ""
        return f"clients of {self.product} speak {self.protocol}{workload}: {self.words}"


def clients_of(definition: Definition) -> tuple[Clients, ...]:
    """Return the clients of every product with every workload.

    Empty where all speak CQL, whose options all have, and where nobody stated what they speak.
    """
    if definition.protocols in ((CQL,), (UNKNOWN,)):
        return ()
    workloads = {part.workload: part.definition for part in parts(definition)}
    first = {product: definition.of_product(product)[0][1] for product in definition.products}
    return tuple(
        Clients(product, alone.protocol_of(variant), workload, alone.client_options_of(variant))
        for workload, alone in workloads.items()
        for product, variant in first.items()
    )
