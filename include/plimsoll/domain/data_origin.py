"""The origin of the data on which a load runs, where the loads of a ramp's repeat share data."""

from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import Model
from plimsoll.domain.cell import AttemptKey, Cell
from plimsoll.domain.cluster import ClusterId
from plimsoll.domain.result import Verdict


class DataOrigin(Model):
    """The data of one attempt: on which cluster they are, and which attempts' loads ran on them before."""

    cluster: ClusterId
    earlier: Annotated[
        tuple[AttemptKey, ...],
        Field(
            description="Attempts whose loads ran on the data, the one that populated first; empty: it does so itself"
        ),
    ] = ()
    until: Annotated[AwareDatetime, Field(description="When the database ends itself at the latest")]

    def populated_by(self, key: AttemptKey) -> AttemptKey:
        """Return the attempt that populated the data of the attempt with that key."""
        return self.earlier[0] if self.earlier else key

    def environment(self, key: AttemptKey) -> str:
        """Return the name of what lives on the nodes as long as the data do: `g1-010k-r3-1-data`."""
        return f"{self.populated_by(key).environment}-data"

    def handed_on(self, key: AttemptKey) -> "DataOrigin":
        """Return the origin for the next attempt on the data of the attempt with that key."""
        return self.model_copy(update={"earlier": (*self.earlier, key)})


def can_go_on(cell: Cell, earlier: Cell, verdict: Verdict | None) -> bool:
    """Tell whether a load at `cell` may go on with the data of an attempt at `earlier`, by that attempt's verdict.

    Both belong to one repeat of a variant with a workload, the earlier load was lower, valid and met: then the data are
    what the ramp says, and no overload has left work behind.
    """
    is_next = cell.data_key == earlier.data_key and earlier.load_ops_s < cell.load_ops_s
    return is_next and verdict is not None and verdict.outcome == "met"
