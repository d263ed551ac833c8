"""A short check of each host before it is loaded: the figures it reached, and the least it must reach."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import Model
from plimsoll.domain.units import Size


class Floor(Model):
    """The least that a host of a role must reach, each a second; what is not given is measured and not judged."""

    cpu: Annotated[Size | None, Field(description="Hashed by SHA-256 on all processors together")] = None
    disk_write: Annotated[Size | None, Field(description="Written to the disk of the database's data")] = None
    disk_read: Annotated[Size | None, Field(description="Read from it")] = None
    network: Annotated[Size | None, Field(description="Sent to or received from another host of the cluster")] = None


class Canary(Model):
    """Checks every host for some seconds before the database starts; a host below its role's floor ends the attempt."""

    node: Annotated[Floor, Field(description="Database nodes")] = Floor()
    load: Annotated[Floor, Field(description="The load generator's host")] = Floor()


class HostFigures(Model):
    """The figures that one host reached, in bytes per second."""

    host: str
    cpu_bytes_s: float
    disk_write_bytes_s: float
    disk_read_bytes_s: float
    network_bytes_s: Annotated[
        float, Field(description="The better of what it sent to one neighbour and received from another")
    ]


class CanaryReport(Model):
    """The figures of all hosts of an attempt, in the cluster's order."""

    hosts: tuple[HostFigures, ...]
