"""An import error with the faults of definitions that can't become DAGs.

Airflow marks every DAG of a file with an import error as stale, so the error has a DAG file of its own.
"""

from airflow.sdk import get_parsing_context

from plimsoll.domain.text.errors import DefinitionError
from plimsoll.settings import Settings
from plimsoll_airflow.wiring.definitions import faults


def require_sound_definitions() -> None:
    """Raise DefinitionError with all faults, unless a task's process asks."""
    if get_parsing_context().dag_id is None and (found := faults(Settings())):
        raise DefinitionError(found, where="campaign definitions")
