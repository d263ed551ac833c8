"""A cell's steps, declared otherwise for a test."""

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.services.cell import steps


def declare(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """Have the step of that name with those fields changed."""
    changed = [replace(one, **changes) if one.name == name else one for one in steps.STEPS]
    monkeypatch.setattr(steps, "STEPS", tuple(changed))


def declare_polling(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Have the load followed with those fields changed."""
    polling = steps.step("load").polling
    assert polling is not None
    declare(monkeypatch, "load", polling=replace(polling, **changes))
