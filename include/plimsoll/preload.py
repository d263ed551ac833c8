"""Importing this module imports what processes that judge need, once for all that are forked from the one that does.

These are Great Expectations and tables, the adapters, and the command line, which is the main module of such a process.
"""

import gc
import importlib
from contextlib import suppress

from plimsoll.bootstrap import build_toolkit
from plimsoll.quality.engine import load
from plimsoll.settings import Settings

for name in ("pandas", "pyarrow.parquet", "plimsoll.cli", "plimsoll.services.judge.attempt_judging"):
    importlib.import_module(name)
load()
# For its imports alone: each process makes its own, and says itself why it can't.
with suppress(Exception):
    build_toolkit(Settings())
gc.freeze()  # what is imported stays: no process needs to look through it for garbage
