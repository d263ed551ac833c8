"""Importing this module imports all that processes which judge need, and their main module, before they are forked."""

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
