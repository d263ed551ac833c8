"""No DAG, but an import error with the faults of definitions that can't become DAGs."""

from plimsoll_airflow.dags.campaigns import require_sound_definitions

require_sound_definitions()
