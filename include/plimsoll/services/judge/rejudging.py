"""Judge all collected attempts of a campaign again, from their raw files and by today's rules, on many processors."""

from __future__ import annotations

from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.domain.errors import PlimsollError
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.judge.workers import toolkit_of_this_worker, workers
from plimsoll.services.store.campaigns import CampaignStore, read_manifest, read_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plimsoll.domain.cell import AttemptKey
    from plimsoll.domain.result import Outcome, Verdict
    from plimsoll.services.judge.workers import MakeToolkit
    from plimsoll.services.toolkit import Toolkit


@dataclass(frozen=True)
class Rejudged:
    """The outcome for one attempt.

    `before` is None if it had no verdict. `after` is None if it could not be judged: then it keeps its verdict, and
    `failure` has the reason. `same`: nothing in the verdict has changed except the version of the code that reached it.
    """

    key: AttemptKey
    before: Outcome | None = None
    after: Outcome | None = None
    same: bool = False
    failure: str = ""


def collected_attempts(campaign: CampaignStore) -> tuple[AttemptKey, ...]:
    """Return every attempt with raw files, by cell and number. Raises NotFound when there is no such campaign."""
    campaign.definition_text()
    keys = (key for cell_id in campaign.cells_with_attempts() for key in campaign.attempts(cell_id))
    return tuple(key for key in keys if read_manifest(campaign.store, key) is not None)


def rejudge(
    make_toolkit: MakeToolkit, keys: Sequence[AttemptKey], jobs: int, on_each: Callable[[Rejudged], None]
) -> tuple[Rejudged, ...]:
    """Judge these attempts again, `jobs` at a time, each in its own process if `jobs` is more than one.

    `make_toolkit` is pickled for these processes. `on_each` is called after each attempt. The result is in the order of
    `keys`. An attempt that can't be judged keeps its verdict and does not stop the others. Raises PlimsollError where a
    process was killed.
    """
    found: dict[AttemptKey, Rejudged] = {}
    for one in _each(make_toolkit, keys, min(jobs, len(keys))):
        found[one.key] = one
        on_each(one)
    return tuple(found[key] for key in keys)


def _each(make_toolkit: MakeToolkit, keys: Sequence[AttemptKey], jobs: int) -> Iterator[Rejudged]:
    if jobs <= 1:
        toolkit = make_toolkit()
        yield from (_rejudged(toolkit, key) for key in keys)
        return
    with workers(make_toolkit, jobs) as pool:
        try:
            for done in as_completed([pool.submit(_in_worker, key) for key in keys]):
                yield done.result()
        except BrokenProcessPool as error:
            mend = "give `--jobs 1`, or as many as there is memory for; what is judged already stays so"
            raise PlimsollError("a process that judged was killed", mend=mend) from error


def _in_worker(key: AttemptKey) -> Rejudged:
    return _rejudged(toolkit_of_this_worker(), key)


def _rejudged(toolkit: Toolkit, key: AttemptKey) -> Rejudged:
    from plimsoll.services.judge.attempt_judging import (
        judge_again,  # late: a process that only gives out work needs none of it
    )

    try:
        before, after = judge_again(AttemptContext(toolkit, key))
    except PlimsollError as error:
        return Rejudged(key, _kept(toolkit, key), failure=str(error))
    return Rejudged(key, before.outcome if before else None, after.outcome, same=_is_same(before, after))


def _kept(toolkit: Toolkit, key: AttemptKey) -> Outcome | None:
    """Return the outcome of the verdict that an attempt keeps; None where it has none, or the store does not
    give it.
    """
    with suppress(PlimsollError):
        verdict = read_verdict(toolkit.store, key)
        return verdict.outcome if verdict else None
    return None


def _is_same(before: Verdict | None, after: Verdict) -> bool:
    return before is not None and before.model_copy(update={"code_version": after.code_version}) == after
