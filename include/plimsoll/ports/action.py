"""An action on the running nodes of an attempt."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from plimsoll.domain.action import Action, ActionEnd
from plimsoll.domain.specs import VariantSpec
from plimsoll.ports.host import Host


@dataclass(frozen=True)
class ActionRequest:
    """An action on these nodes, the seed first; `spares` are hosts on which no node was started yet.

    Whatever it starts on hosts ends by itself after `expires`. `now`: by the controller's clock.
    """

    action: Action
    spec: VariantSpec
    nodes: Sequence[Host]
    spares: Sequence[Host]
    expires: timedelta
    now: datetime


@dataclass(frozen=True)
class ActionStatus:
    """How far an action is: what it does now, in words, and its end once the product itself told of that."""

    note: str = ""
    end: ActionEnd | None = None
