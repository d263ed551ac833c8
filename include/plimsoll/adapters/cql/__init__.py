"""What the load generators that speak CQL have in common: its words, tables and statements, checked without a database.
Only the database knows CQL. What is not recognized here passes, and is refused, if at all, when it is prepared.
"""

from collections.abc import Iterator

from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.workload import CQL
from plimsoll.domain.text.errors import Problem


def protocol_problems(spec: LoadSpec, generator: str) -> Iterator[Problem]:
    """Yield a problem for each product whose clients speak something else than CQL, which the generator can't."""
    for target in spec.targets:
        if target.protocol != CQL:
            what = f"{generator} speaks {CQL}, and not {target.protocol}, as clients of {target.product} do"
            yield Problem(target.key, what, "take plimsoll-stress for the load")
