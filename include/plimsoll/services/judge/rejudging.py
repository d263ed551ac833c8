"""Judge all collected attempts of a campaign again, from their raw files and by today's rules, on many processors.

The processes that judge are forked from one that has imported all they need, and end with their parent.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import forkserver, get_context, parent_process

from plimsoll.domain.attempt.result import Outcome
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import PlimsollError, reason_of
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

MakeToolkit = Callable[[], Toolkit]

_PRELOADED = ["plimsoll.preload"]
"""The modules that the server of processes imports before it forks any of them."""


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def start_imports() -> None:
    """Start the server of processes, whose imports take two seconds, so that the caller can do other work meanwhile.

    The server ends with this process; if it is importing then, it ends once its imports are done.
    """
    get_context("forkserver").set_forkserver_preload(_PRELOADED)
    forkserver.ensure_running()


@contextmanager
def workers(make_toolkit: MakeToolkit, jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Provide a pool of processes that share imports made once, and inherit no lock or connection.

    `make_toolkit` is pickled for these processes. Work that has not begun at the end of the block is dropped.
    """
    start_imports()
    pool = ProcessPoolExecutor(jobs, get_context("forkserver"), initializer=_begin_worker, initargs=(make_toolkit,))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_of_this_worker: list[Toolkit] = []
"""The toolkit that `make_toolkit` made when this worker began."""


def _begin_worker(make_toolkit: MakeToolkit) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _of_this_worker.append(make_toolkit())


def _end_with_parent() -> None:
    """End this worker when its parent is killed, since a worker otherwise waits for work for ever."""
    if parent := parent_process():
        parent.join()
        # `sys.exit` would end this thread alone
        os._exit(1)


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
    return tuple(key for key in campaign.all_attempts() if layout.MANIFEST.read(campaign.store, key) is not None)


def rejudge(
    make_toolkit: MakeToolkit, keys: Sequence[AttemptKey], jobs: int, on_each: Callable[[Rejudged], None]
) -> tuple[Rejudged, ...]:
    """Judge these attempts again, `jobs` at a time, each in its own process if `jobs` is more than one.

    `make_toolkit` is pickled for these processes. `on_each` is called after each attempt. The result is in the order of
    `keys`. An attempt that can't be judged keeps its verdict and does not stop the others. Raises PlimsollError where a
    process was killed.
    """
    results: dict[AttemptKey, Rejudged] = {}
    for result in _as_judged(make_toolkit, keys, min(jobs, len(keys))):
        results[result.key] = result
        on_each(result)
    return tuple(results[key] for key in keys)


def _as_judged(make_toolkit: MakeToolkit, keys: Sequence[AttemptKey], jobs: int) -> Iterator[Rejudged]:
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
    return _rejudged(_of_this_worker[0], key)


def _rejudged(toolkit: Toolkit, key: AttemptKey) -> Rejudged:
    # Late: a process that only gives out work needs none of it
    from plimsoll.services.judge.attempt_judging import judge_again

    try:
        before, after = judge_again(AttemptContext(toolkit, key))
    except Exception as error:  # one attempt never keeps the others from being judged
        return Rejudged(key, _kept(toolkit, key), failure=reason_of(error))
    if before is None:
        return Rejudged(key, None, after.outcome)
    same = before.model_copy(update={"code_version": after.code_version}) == after
    return Rejudged(key, before.outcome, after.outcome, same)


def _kept(toolkit: Toolkit, key: AttemptKey) -> Outcome | None:
    """Return the outcome of the verdict that an attempt keeps; None where it has none, or the store does not
    give it.
    """
    with suppress(PlimsollError):
        verdict = layout.VERDICT.read(toolkit.store, key)
        return verdict.outcome if verdict else None
    return None
