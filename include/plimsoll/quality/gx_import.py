"""Import Great Expectations quietly, without telemetry, and without what it imports for features not used here.

Three of its expectations, which no suite here uses, import SciPy's statistics, Altair and jsonschema: a third of the
whole import. SQLAlchemy, with which it reads databases, is an optional requirement of it, and takes a seventh of what
is left.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import sys
import warnings
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from plimsoll.quality.quicker import make_quicker

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE = "great_expectations"
_UNUSED = ("altair", "jsonschema", "scipy.stats")
_OPTIONAL = ("sqlalchemy", "psycopg2")


def load() -> ModuleType:
    """The package Great Expectations. The first call takes seconds of processor time: worth it once before forking."""
    if _PACKAGE not in sys.modules:
        os.environ["GX_ANALYTICS_ENABLED"] = "false"
        logging.getLogger(_PACKAGE).setLevel(logging.ERROR)  # it writes hundreds of lines while it is imported
        with warnings.catch_warnings(), _put_off(_UNUSED), as_if_not_installed(_OPTIONAL):
            # Its file connector imports modules that Python 3.11 renamed; nothing that a user could mend.
            warnings.filterwarnings("ignore", "module 'sre_(constants|parse)' is deprecated", DeprecationWarning)
            with without_garbage_collection():
                importlib.import_module(_PACKAGE)
            make_quicker()
    return importlib.import_module(_PACKAGE)


class _StandIn(ModuleType):
    """Stands for a module, which is imported when the first attribute of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


@contextmanager
def _put_off(names: tuple[str, ...]) -> Iterator[None]:
    """Modules that are imported inside the block get stand-ins for these, unless they are imported already.

    After the block everybody else imports the modules themselves.
    """
    stand_ins = {name: _StandIn(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]


@contextmanager
def as_if_not_installed(names: tuple[str, ...]) -> Iterator[None]:
    """Imports of these packages fail inside the block, unless they are imported already, as in all of Airflow."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None is how Python marks such a module
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """For imports: they leave next to no garbage, and the collector would look through all modules again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
