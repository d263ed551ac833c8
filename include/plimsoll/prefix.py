"""Read the setting `PLIMSOLL_PREFIX`, how names of what Plimsoll adds to an Airflow of others begin, and name DAGs."""

import os
import re

from plimsoll.domain.text.errors import Problem, Refused

PATTERN = r"^([a-z][a-z0-9_]{0,30})?$"
"""Letters, digits and `_`, as in ids of DAGs."""


PREFIX = os.environ.get("PLIMSOLL_PREFIX", "")
"""The prefix in this process, from its start to its end: names are looked up by it everywhere."""
if not re.match(PATTERN, PREFIX):
    mend = "write a small letter, then small letters, digits and `_`: at most 31"
    raise Refused([Problem("PLIMSOLL_PREFIX", f"is {PREFIX!r}", mend)], where="settings")


def dag_id_of(name: str) -> str:
    """Return the Airflow DAG id for a definition's name: `azul-2022` → `azul_2022`, after the installation's prefix."""
    return PREFIX + name.replace("-", "_")


def name_of_dag(dag_id: str) -> str:
    """Return the name of the definition that a DAG runs; empty for DAGs without the prefix, which are others'.

    This reverses `dag_id_of`, since names contain no underscore.
    """
    return dag_id.removeprefix(PREFIX).replace("_", "-") if dag_id.startswith(PREFIX) else ""


def report_asset_of(name: str) -> str:
    """Return the name of the Airflow asset of a definition's reports: `report-azul-2022`, after the prefix."""
    return f"{PREFIX}report-{name}"
