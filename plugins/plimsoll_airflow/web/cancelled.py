"""What *Cancel* has ended, named by the address of a page, so that loading the page again ends nothing more.

The address is only a hint: the page tells of what Airflow and the store know to be of this campaign.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query

from plimsoll.domain.cell import AttemptKey
from plimsoll.services.store.campaigns import read_cancellation
from plimsoll_airflow.web import runs
from plimsoll_airflow.web.under_way import under_way
from plimsoll_airflow.web.visits import Visit

NAMED = 40
"""How many runs, and how many attempts, are named in the address at most: browsers and proxies limit its length."""

_ATTEMPT = r"^[a-z0-9]+(-[a-z0-9]+)*/[1-9][0-9]{0,5}$"
RunNames = Annotated[list[Annotated[str, Query(max_length=400)]] | None, Query(max_length=NAMED)]
AttemptNames = Annotated[list[Annotated[str, Query(max_length=87, pattern=_ATTEMPT)]] | None, Query(max_length=NAMED)]


def query_of(ended: runs.EndedRuns) -> str:
    """The query that names what was ended, and counts what is too much to be named."""
    named = [("run", f"{one.dag_id}/runs/{one.run_id}") for one in ended.runs[:NAMED]]
    named += [("attempt", attempt.partition("/")[2]) for attempt in ended.attempts[:NAMED]]
    more = len(ended.runs) + len(ended.attempts) - len(named)
    return urlencode([*named, ("more", str(more))] if more else named)


def ended_of(visit: Visit, run: Sequence[str], attempt: Sequence[str]) -> runs.EndedRuns:
    """What these names stand for, as far as it is of this campaign, and the attempts of others that go on now."""
    found = (runs.find_run_of(visit.definition, visit.campaign_id, one) for one in run)
    return runs.EndedRuns(
        runs=[one for one in found if one],
        attempts=[str(key) for key in _keys(visit, attempt) if read_cancellation(visit.store, key)],
        others=list(under_way(visit.definition, visit.campaign_id).others),
    )


def _keys(visit: Visit, attempt: Sequence[str]) -> Iterator[AttemptKey]:
    for one in attempt:
        cell_id, _, number = one.partition("/")
        yield visit.campaign.key(cell_id, int(number))
