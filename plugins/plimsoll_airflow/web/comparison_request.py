"""Compare two campaigns, for the page and the API."""

import re
from dataclasses import dataclass

from plimsoll.report.compare.parts import Comparisons
from plimsoll.services.publish.comparison import compare_stored
from plimsoll_airflow.internals.api_server import BaseUser
from plimsoll_airflow.web.access import require_readable
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.paths import Force, Pairs


@dataclass(frozen=True)
class ComparisonOptions:
    """The options of a comparison, from a query."""

    pair: Pairs = ""
    force: Force = False

    @property
    def pairing(self) -> dict[str, str]:
        """Return ids of A's variants to ids of B's."""
        return dict(one.split("=") for one in re.split("[ ,]+", self.pair) if one)


def compare(a: str, b: str, options: ComparisonOptions, user: BaseUser) -> Comparisons:
    """Compare campaign B with A. Raises NotFound, 403 for users who may not see both, Refused where not comparable."""
    for campaign_id in (a, b):
        require_readable(campaign_id, user)
    now = library().clock.now()
    return compare_stored(library().store, a, b, pairing=options.pairing, force=options.force, now=now)
