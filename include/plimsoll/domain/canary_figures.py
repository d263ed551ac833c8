"""A short check of each host before it is loaded: the figures it reached, and the least it must reach."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import Model
from plimsoll.domain.units import Size


class Floor(Model):
    """The least figures that a host of a role must reach, in bytes per second.

    A figure without a floor is measured and not judged.
    """

    cpu: Annotated[Size | None, Field(description="Data that all processors together hash with SHA-256")] = None
    disk_write: Annotated[Size | None, Field(description="Data written to the disk of the database's data")] = None
    disk_read: Annotated[Size | None, Field(description="Data read from the disk of the database's data")] = None
    network: Annotated[
        Size | None, Field(description="Data sent to, or received from, another host of the cluster")
    ] = None


class Canary(Model):
    """The check of every host for some seconds before the database starts.

    A host below a floor of its role is unfit. It ends the attempt or, if hosts are kept, is replaced.
    """

    node: Annotated[Floor, Field(description="Floors of the database nodes")] = Floor()
    load: Annotated[Floor, Field(description="Floors of the load hosts")] = Floor()


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
