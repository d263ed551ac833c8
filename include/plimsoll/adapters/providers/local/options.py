"""Options of the local provider in a definition: `provider: {name: local, options: {…}}`."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import Model
from plimsoll.domain.units import Size

_MIB = 1 << 20


class LocalOptions(Model):
    """The resources that a cell is assumed to need when the machine's resources are checked."""

    memory_per_node_overhead: Annotated[
        Size, Field(description="Memory that a database node's process takes beyond its heap")
    ] = 512 * _MIB
    reserved_memory: Annotated[
        Size, Field(description="Memory that is left to the system, Airflow and everything else")
    ] = 2048 * _MIB
    disk_per_node: Annotated[Size, Field(description="Free disk that a database node must find")] = 1024 * _MIB
