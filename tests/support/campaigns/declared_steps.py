"""Change the declaration of a cell's steps for a test."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.domain.errors import PlimsollError
from plimsoll.services.cell import steps


def declare(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """Change these fields of the step with that name."""
    changed = [replace(one, **changes) if one.name == name else one for one in steps.STEPS]
    monkeypatch.setattr(steps, "STEPS", tuple(changed))


def declare_polling(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Change these fields of the polling of the load."""
    polling = steps.step("load").polling
    assert polling is not None
    declare(monkeypatch, "load", polling=replace(polling, **changes))


def failing(step: Callable[..., Any], error: PlimsollError, times: int) -> Callable[..., Any]:
    """The step, after it has failed that often."""
    left = iter([error] * times)

    def tried(*arguments: Any) -> Any:
        for found in left:
            raise found
        return step(*arguments)

    return tried
