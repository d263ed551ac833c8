"""Read the setting `PLIMSOLL_PREFIX`, how names of what Plimsoll adds to an Airflow of others begin."""

import os
import re

PATTERN = r"^([a-z][a-z0-9_]{0,30})?$"
"""Letters, digits and `_`, as in ids of DAGs."""


def _checked(prefix: str) -> str:
    if not re.match(PATTERN, prefix):
        raise ValueError(f"PLIMSOLL_PREFIX is {prefix!r}, and may have small letters, digits and `_`, at most 31")
    return prefix


PREFIX = _checked(os.environ.get("PLIMSOLL_PREFIX", ""))
"""The prefix in this process, from its start to its end: names are looked up by it everywhere."""
