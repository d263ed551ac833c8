"""Options of the local provider in a definition: `provider: {name: local, options: {…}}`."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import Model
from plimsoll.domain.units import Size

_MIB = 1 << 20


class LocalOptions(Model):
    """What a cell is counted at when it is asked whether the machine can carry it."""

    memory_per_node_overhead: Annotated[
        Size, Field(description="Memory that a database node's process takes beyond its heap")
    ] = 512 * _MIB
    reserved_memory: Annotated[
        Size, Field(description="Memory that is left to the system, Airflow and everything else")
    ] = 2048 * _MIB
    disk_per_node: Annotated[Size, Field(description="Free disk that a database node must find")] = 1024 * _MIB
