"""Importing this module imports what processes that judge need, once for all that are forked from the one that does.

These are Great Expectations and tables, the adapters, and the command line, which is such a process' main module.
"""

import gc
import importlib
from contextlib import suppress

from plimsoll.bootstrap import build_toolkit
from plimsoll.quality.engine import rehearse
from plimsoll.quality.gx_import import without_garbage_collection
from plimsoll.quality.gx_tables import suites_alone
from plimsoll.settings import Settings

_MODULES = ("pandas", "pyarrow.parquet", "plimsoll.cli", "plimsoll.services.judge.attempt_judging")

with without_garbage_collection():
    for name in _MODULES:
        importlib.import_module(name)
    with suites_alone():  # forked processes judge and do nothing else
        rehearse()
    # For its imports alone: each process makes its own, and says itself why it can't.
    with suppress(Exception):
        build_toolkit(Settings())
gc.freeze()  # what is imported stays: no process needs to look through it for garbage
