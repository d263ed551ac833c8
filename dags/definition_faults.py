"""No DAG: an import error that says what is wrong with the definitions that no DAG can be made of.

Airflow marks every DAG of a file with an import error as stale; hence a file of its own, beside `campaigns.py`.
"""

from airflow.sdk import get_parsing_context

from plimsoll.domain.errors import DefinitionError
from plimsoll.settings import Settings
from plimsoll_airflow.catalogue import faults

if get_parsing_context().dag_id is None and (found := faults(Settings())):
    raise DefinitionError(found, where="campaign definitions")
