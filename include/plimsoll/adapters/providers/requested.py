"""What providers that ask a cloud for hosts share: the options of a request, and the pauses between two tries."""

import random
from collections.abc import Iterator, Mapping
from typing import TypeVar

from pydantic import ValidationError

from plimsoll.domain.keys.faults import problems_of
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import ProviderError

_FIRST_S, _LONGEST_S = 15.0, 240.0
_M = TypeVar("_M", bound=Model)


def options_of_request(model: type[_M], options: Mapping[str, object], where: str) -> _M:
    """Return the options of a requested cluster. Raises ProviderError where they can't be read."""
    try:
        return model.model_validate(options)
    except ValidationError as error:
        said = "; ".join(str(problem) for problem in problems_of(error, model, "provider.options"))
        raise ProviderError(said, where=where, mend="correct the definition's provider.options") from error


def pauses(seed: str) -> Iterator[float]:
    """Yield the seconds between two rounds: doubling up to a limit, and shifted for each cell.

    The shift keeps cells from retrying at the same time.
    """
    dice = random.Random(seed)  # noqa: S311 - not for secrets
    longest = _FIRST_S
    while True:
        yield longest * dice.uniform(0.5, 1.0)
        longest = min(_LONGEST_S, 2 * longest)
