"""What providers share: how options are read, how long hosts may be waited for, and the pauses between two tries."""

import random
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TypeVar

from pydantic import ValidationError

from plimsoll.domain.hosts.cluster import ClusterRequest
from plimsoll.domain.keys.faults import as_written, problems_of
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem, ProviderError
from plimsoll.domain.text.units import format_duration
from plimsoll.ports.controller import Clock
from plimsoll.ports.provider import TIME_TO_PROVISION, Places

_FIRST_S, _LONGEST_S = 15.0, 240.0
_M = TypeVar("_M", bound=Model)


def checked_options(model: type[_M], options: Mapping[str, object]) -> _M | list[Problem]:
    """Return the options as a definition has them, or what is wrong with them."""
    try:
        return model.model_validate(as_written(options, model))
    except ValidationError as error:
        return problems_of(error, model, "provider.options")


def options_of_request(model: type[_M], options: Mapping[str, object], where: str) -> _M:
    """Return the options of a requested cluster. Raises ProviderError where they can't be read."""
    try:
        return model.model_validate(options)
    except ValidationError as error:
        problems = "; ".join(str(problem) for problem in problems_of(error, model, "provider.options"))
        raise ProviderError(problems, where=where, mend="correct the definition's provider.options") from error


def options_of_places(model: type[_M], places: Places) -> Iterator[_M]:
    """Yield the options of the places. Raises ProviderError where the only options can't be read."""
    for options in places.options:
        try:
            yield options_of_request(model, options, "")
        except ProviderError:  # of a definition that never came to a cluster, if there are others
            if len(places.options) == 1:
                raise


def waiting_problems(patience: timedelta, further: timedelta, waits: str, shorter: str) -> list[Problem]:
    """Return the problem of a cell that may wait for longer than it may take to have hosts. Pure.

    `waits`: the further times that it may wait, in words; `shorter`: the keys of these.
    """
    most = TIME_TO_PROVISION - further
    if patience <= most:
        return []
    what = f"a cell may wait {format_duration(patience)} for room and {waits}, "
    mend = f"write a shorter {shorter}" + (f", or at most {format_duration(most)}" if most > timedelta(0) else "")
    late = f"but its hosts must be there after {format_duration(TIME_TO_PROVISION)}"
    return [Problem("provider.options.patience", what + late, mend)]


def within_ceiling(request: ClusterRequest, at: datetime) -> datetime:
    """Return that time, or the one at which the definition lets all hosts end, where that is earlier."""
    return at if request.ends_at is None else min(at, request.ends_at)


def looks(clock: Clock, pauses: Iterable[float], patience: timedelta) -> Iterator[None]:
    """Yield at once, and again after each of these pauses; for the last time once that much time has passed."""
    deadline = clock.now() + patience
    for pause in pauses:
        yield
        if clock.now() > deadline:
            return
        clock.sleep(pause)


def pauses(seed: str) -> Iterator[float]:
    """Yield seconds between two rounds: doubling up to a limit, shifted so that cells don't retry at the same time."""
    dice = random.Random(seed)  # noqa: S311 - not for secrets
    longest = _FIRST_S
    while True:
        yield longest * dice.uniform(0.5, 1.0)
        longest = min(_LONGEST_S, 2 * longest)
