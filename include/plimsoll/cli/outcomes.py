"""The file of outcomes that `plimsoll simulate --outcomes` plays."""

import json
import reprlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from plimsoll.domain.errors import Problem, Refused
from plimsoll.domain.result import Outcome
from plimsoll.strategies.replay import Attempts

_AT_MOST = 64 * 1024 * 1024
_FORM = 'write an object: cell id → list of "met", "missed" or "invalid", such as {"g1-040k-r1": ["met"]}'


def read_outcomes(path: Path) -> Attempts:
    """Read the file. Raises Refused where it can't be read, or is malformed."""
    try:
        pairs = json.loads(_content(path), object_pairs_hook=_each_key_once)
        return TypeAdapter(dict[str, list[Outcome]]).validate_python(pairs)
    except ValidationError as error:
        problems = [Problem(_place(one["loc"]), f"is {reprlib.repr(one['input'])}", _FORM) for one in error.errors()]
        raise Refused(problems, where=str(path)) from error
    except _DuplicateKey as error:
        raise Refused([Problem("the file", str(error), _FORM)], where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise Refused([Problem("the file", f"is no JSON: {error}", _FORM)], where=str(path)) from error


def _content(path: Path) -> bytes:
    """Return the bytes of the file. Raises Refused where it is too large or can't be read."""
    try:
        if path.stat().st_size > _AT_MOST:
            raise Refused([Problem("outcomes", "are more than 64 MiB", _FORM)], where=str(path))
        return path.read_bytes()
    except OSError as error:
        mend = "give the path of a JSON file that you can read"
        raise Refused([Problem("--outcomes", f"can't be read: {error.strerror}", mend)], where=str(path)) from error


class _DuplicateKey(Exception):
    """A key stands twice in an object, so that the first of its values would be lost."""


def _each_key_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object. Raises _DuplicateKey."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _DuplicateKey(f"has {key!r} twice")
        found[key] = value
    return found


def _place(parts: Sequence[str | int]) -> str:
    """Name a place in the file: `g1-040k-r1[0]` is the first outcome of a cell."""
    name = "".join(f"[{part}]" if isinstance(part, int) else part for part in parts)
    return name or "the file"
