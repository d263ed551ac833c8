"""Whether an operation of a log was answered, and of which kind a failure is."""

from collections.abc import Sequence

from plimsoll.domain.errors import LogError

_ANSWERED = {"true", "t", "1", "ok", "yes", "y", "success", "succeeded", "successful", "pass", "passed"}
_FAILED = {"false", "f", "0", "ko", "no", "n", "fail", "failed", "failure", "error", "timeout", "aborted", "skipped"}
_NO_KINDS = {"false", "f", "0", "no", "n", "ko", "fail", "failed", "failure"}
_NO_ERROR = {"", "false", "0", "none", "null", "nil", "nan", "-"}
_STATUSES = range(100, 600)
_FIRST_FAILED_STATUS = 400
_MOST_KINDS = 50
_LONGEST = 60
_MOST_HELD = 10_000
OTHER = "other"


class Outcomes(dict[tuple[str, ...], str]):
    """The kind of a failure by the texts of a row's columns; empty of an operation that was answered.

    The last text is an error's, which is empty where there was none; the first of the others that is not empty says
    whether the operation was answered. `column`: the name of theirs, empty where there is none. `has_errors`: whether
    there is a column of errors, which decides where the others say nothing.
    """

    def __init__(self, ok_values: frozenset[str], column: str, *, has_errors: bool) -> None:
        super().__init__()
        self._ok_values, self._column, self._has_errors = ok_values, column, has_errors
        self._kinds: set[str] = set()

    def __missing__(self, texts: tuple[str, ...]) -> str:
        if len(self) >= _MOST_HELD:
            self.clear()
        kind = self[texts] = self._bounded(self._kind(texts))
        return kind

    def _kind(self, texts: Sequence[str]) -> str:
        *told, error = (text.strip() for text in texts)
        error = "" if error.lower() in _NO_ERROR else error
        outcome = next((text for text in told if text), "")
        is_by_error = not outcome and (self._has_errors or not self._column)
        if not error if is_by_error else self._is_answered(outcome):
            return ""
        is_plain = outcome.lower() in _NO_KINDS
        return ((error if is_plain or not outcome else outcome) or "failed")[:_LONGEST]

    def _is_answered(self, outcome: str) -> bool:
        if self._ok_values:
            return outcome in self._ok_values
        word = outcome.lower()
        if word in _ANSWERED or word in _FAILED:
            return word in _ANSWERED
        if word.isdecimal() and int(word) in _STATUSES:
            return int(word) < _FIRST_FAILED_STATUS
        what = f"does not say whether {outcome!r} in column {self._column} is an answer"
        mend = f"say which values are: `--columns ok={self._column}:{outcome}`, several with `|`"
        raise LogError(what, mend=mend)

    def _bounded(self, kind: str) -> str:
        if not kind or kind in self._kinds or len(self._kinds) < _MOST_KINDS:
            self._kinds.add(kind)
            return kind
        return OTHER
