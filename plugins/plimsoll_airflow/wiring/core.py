"""The core, wired once per process and settings."""

from functools import lru_cache

from plimsoll.bootstrap import build_toolkit
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

_AIRFLOW_SECRETS = "plimsoll_airflow.wiring.secrets:airflow_secrets"


def toolkit() -> Toolkit:
    """Return the toolkit for this process' environment. Keys come from Airflow unless it names another source."""
    settings = Settings()
    named = "secrets" in settings.model_fields_set
    return _built(settings if named else settings.model_copy(update={"secrets": _AIRFLOW_SECRETS}))


@lru_cache(maxsize=4)
def _built(settings: Settings) -> Toolkit:
    return build_toolkit(settings)
