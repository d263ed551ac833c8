"""What the clients of each product speak, and with which options of the workload: for plan, page and report. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from plimsoll.domain.campaign.part import Part, Setup
from plimsoll.domain.keys.protocols import CQL, UNKNOWN


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


def clients_of(parts: Sequence[Part]) -> tuple[Clients, ...]:
    """Return the clients of every product with every workload, of a campaign's parts or of one of them alone.

    Empty where all speak CQL, whose options all have, and where nobody stated what they speak.
    """
    setup: Setup = parts[0]
    if setup.protocols in ((CQL,), (UNKNOWN,)):
        return ()
    workloads = {part.workload_id if len(parts) > 1 else "": part for part in parts}
    first = {product: setup.of_product(product)[0][1] for product in setup.products}
    return tuple(
        Clients(product, part.protocol_of(variant), workload, part.client_options_of(variant))
        for workload, part in workloads.items()
        for product, variant in first.items()
    )
