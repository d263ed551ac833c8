"""Say from when the response times of a report count, which depends on the program that made the load."""

from collections.abc import Iterable

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.text.wording import plural

INTENDED = (
    "From an operation's intended start on a fixed schedule to its answer, so that a stall shows as high response "
    "times and not as missing operations."
)
_SENT = (
    "Not from the intended start of an operation: from its send, or from a start that the logs do not tell; the "
    "warnings say which. A stall then hides the operations that were due in it (coordinated omission), so high "
    "percentiles come out too low."
)


def methods_words(verdicts: Iterable[Verdict]) -> str:
    """Return the paragraph of the methods."""
    known = tuple(verdicts)
    omitting = sum(one.may_omit for one in known)
    if not omitting:
        return INTENDED
    if omitting == len(known):
        return _SENT
    return f"{INTENDED} In {omitting} of {plural(len(known), 'cell')}: {_SENT[0].lower()}{_SENT[1:]}"


def counted_from(verdicts: Iterable[Verdict]) -> str:
    """Return a clause for captions that begins with a comma: `, counted from their intended start`."""
    if any(one.may_omit for one in verdicts):
        return ", but not all of them counted from their intended start (coordinated omission)"
    return ", counted from their intended start"
