"""Places of the store that behave otherwise for one module."""

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace

import pytest

from plimsoll.services.store import layout


def patch_place(patch: pytest.MonkeyPatch, module: str, place: str, **methods: Callable[..., object]) -> None:
    """Replace methods of that place of the layout, as the module of the core sees it."""
    own = getattr(layout, place)
    kept = {name: getattr(own, name) for name in dir(own) if not name.startswith("_")}
    seen = SimpleNamespace(**{**vars(layout), place: SimpleNamespace(**{**kept, **methods})})
    patch.setattr(import_module(f"plimsoll.services.{module}"), "layout", seen)
