"""Show what *Cancel* has ended, named by the address of a page, so that loading the page again ends nothing more.

The page shows runs that Airflow knows to be of this campaign, and attempts that the store knows to be cancelled. Only
the number of those that are not named is taken from the address.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query
from pydantic import AfterValidator

from plimsoll.domain.cell import AttemptKey
from plimsoll.services.store.campaigns import read_cancellation
from plimsoll_airflow.web import runs
from plimsoll_airflow.web.under_way import under_way
from plimsoll_airflow.web.visits import Visit

NAMED = 40
"""The number of runs, and of attempts, that an address may name."""
LONGEST_QUERY = 2000
"""The greatest length of the query that names them: browsers and proxies limit addresses."""


def _as_attempt(text: str) -> str:
    """Return the text if it is the name of an attempt, `cell/number`. Raises ValueError."""
    AttemptKey.parse(f"campaign/{text}")
    return text


RunNames = Annotated[list[Annotated[str, Query(max_length=400)]] | None, Query(max_length=NAMED)]
AttemptNames = Annotated[
    list[Annotated[str, Query(max_length=100), AfterValidator(_as_attempt)]] | None, Query(max_length=NAMED)
]


def query_of(ended: runs.EndedRuns) -> str:
    """Return the query that names the ended runs and attempts, and counts those that are too many to be named."""
    named = [("run", f"{one.dag_id}/runs/{one.run_id}") for one in ended.runs[:NAMED]]
    named += [("attempt", attempt.partition("/")[2]) for attempt in ended.attempts[:NAMED]]
    lengths = accumulate(len(urlencode([one])) + 1 for one in named)
    named = [one for one, length in zip(named, lengths, strict=True) if length <= LONGEST_QUERY]
    more = len(ended.runs) + len(ended.attempts) - len(named)
    return urlencode([*named, ("more", str(more))] if more else named)


def ended_of(visit: Visit, run: Sequence[str], attempt: Sequence[str]) -> runs.EndedRuns:
    """Find what these names stand for, as far as it belongs to this campaign, and the attempts of others that go
    on now.
    """
    found = (runs.find_run_of(visit.resolved, visit.campaign_id, one) for one in run)
    return runs.EndedRuns(
        runs=[one for one in found if one],
        attempts=[str(key) for key in _keys(visit, attempt) if read_cancellation(visit.store, key)],
        others=list(under_way(visit.resolved, visit.campaign_id).others),
    )


def _keys(visit: Visit, attempt: Sequence[str]) -> Iterator[AttemptKey]:
    for one in attempt:
        cell_id, _, number = one.partition("/")
        yield visit.campaign.key(cell_id, int(number))
