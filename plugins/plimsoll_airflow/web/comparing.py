"""Two campaigns side by side, for page and API alike."""

import re
from dataclasses import dataclass

from plimsoll.report.side_by_side_parts import Comparisons
from plimsoll.services.comparing import compare_stored
from plimsoll_airflow.web.access import require_readable
from plimsoll_airflow.web.internals import BaseUser
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.paths import Force, Pairs


@dataclass(frozen=True)
class Manner:
    """How to compare, as a query asks for it."""

    pair: Pairs = ""
    force: Force = False

    @property
    def pairing(self) -> dict[str, str]:
        """Ids of A's variants to ids of B's."""
        return dict(one.split("=") for one in re.split("[ ,]+", self.pair) if one)


def compare(a: str, b: str, manner: Manner, user: BaseUser) -> Comparisons:
    """Campaign B held against A. NotFound, 403 for who may not see both, Refused where they are not comparable."""
    for campaign_id in (a, b):
        require_readable(campaign_id, user)
    now = library().clock.now()
    return compare_stored(library().store, a, b, pairing=manner.pairing, force=manner.force, now=now)
