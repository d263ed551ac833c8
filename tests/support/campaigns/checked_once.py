"""Great Expectations' results, remembered by what was checked: attempts at stand-ins have the same few tables again and
again, and each takes it half a second of processor time.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from plimsoll.quality import engine
from plimsoll.quality.expectation import CheckedTable

_run, _known = engine._result, dict[bytes, Any]()


@contextmanager
def checked_once() -> Iterator[None]:
    """Run Great Expectations inside the block only on tables that this process has not checked before."""
    with mock.patch("plimsoll.quality.engine._result", _remembered):
        yield


def _remembered(checked: CheckedTable) -> Any:
    content = pickle.dumps(checked)
    if content not in _known:
        _known[content] = _run(checked)
    return _known[content]
