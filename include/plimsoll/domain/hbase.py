"""The protocol that clients of HBase speak: its options of a workload."""

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.domain.base import Model

HBASE = "hbase"
"""The protocol's name."""


class HBaseOptions(Model):
    """The options of a workload whose clients speak HBase's protocol: how its tables are made."""

    regions: Annotated[
        int, Field(ge=1, le=1000, description="Number of regions that each new table is divided into (HBase)")
    ] = 8
    block_encoding: Annotated[
        Literal["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"],
        Field(description="Block encoding of new tables (HBase)"),
    ] = "NONE"
    compression: Annotated[Literal["NONE", "GZ"], Field(description="Compression of new tables (HBase)")] = "NONE"
