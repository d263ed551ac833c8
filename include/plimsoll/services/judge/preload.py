"""Importing this module imports everything that judging needs, such as Great Expectations, once for many processes."""

import pandas  # noqa: F401 - this module is there for its imports
import pyarrow.parquet  # noqa: F401

from plimsoll.quality.engine import load
from plimsoll.services.judge import (
    judging,  # noqa: F401
    rejudging,  # noqa: F401
)

load()
