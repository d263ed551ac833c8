"""The program for each protocol, and its options that only this protocol has. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from plimsoll.domain.cql import CQL
from plimsoll.domain.hbase import HBASE
from plimsoll.domain.load_spec import LoadSpec
from plimsoll.domain.workload import Workload
from plimsoll.ports.artefacts import OwnProgramName


@dataclass(frozen=True)
class ClientProgram:
    """The program of the clients of one protocol, the options by which they ask, and the option for other tables."""

    program: OwnProgramName
    main: str
    asking: Callable[[Workload], dict[str, str]]
    """Options by which the clients ask, or by which they make tables."""
    keyspace: str
    """The option that names the keyspace or namespace of the tables."""
    jvm: tuple[str, ...] = ()
    """Further flags of its JVM."""


def _asking_in_cql(workload: Workload) -> dict[str, str]:
    return {"--cl": workload.consistency, "--rf": str(workload.replication_factor)}


def _asking_hbase(workload: Workload) -> dict[str, str]:
    return {
        "--regions": str(workload.regions),
        "--block-encoding": workload.block_encoding,
        "--compression": workload.compression,
    }


# HBase's client compares keys by whole words if memory may be read so, which it asks of a class that is closed.
_FOR_HBASE = ("--add-opens=java.base/java.nio=ALL-UNNAMED",)
CLIENT_PROGRAMS: Mapping[str, ClientProgram] = {
    CQL: ClientProgram("load-generator", "plimsoll.stress.Main", _asking_in_cql, "--keyspace"),
    HBASE: ClientProgram(
        "load-generator-for-hbase", "plimsoll.stress.hbase.Main", _asking_hbase, "--namespace", _FOR_HBASE
    ),
}
"""Protocol → the program of its clients."""


def programs(spec: LoadSpec) -> Iterator[OwnProgramName]:
    """Yield the programs for the protocols of all variants, as far as there are any."""
    for protocol in dict.fromkeys(target.protocol for target in spec.targets):
        if protocol in CLIENT_PROGRAMS:
            yield CLIENT_PROGRAMS[protocol].program
