"""The core, wired once per process and settings."""

from datetime import timedelta
from functools import lru_cache

from plimsoll.bootstrap import build_toolkit
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

AIRFLOW_SECRETS = "plimsoll_airflow.wiring.secrets:airflow_secrets"


def toolkit() -> Toolkit:
    """Return the toolkit for this process' environment. Keys come from Airflow unless it names another source."""
    settings = Settings()
    named = "secrets" in settings.model_fields_set
    return _built(settings if named else settings.model_copy(update={"secrets": AIRFLOW_SECRETS}))


@lru_cache(maxsize=4)
def _built(settings: Settings) -> Toolkit:
    return build_toolkit(settings)


RUN_POLLS = 40
RUN_POLL_S = (2, 30)
LOOKS_AT_ONCE = 100
"""The number of loads that a triggerer may look at in the same moment, each in a thread of its own."""


def run_poll_s(duration: timedelta) -> int:
    """Return the seconds between two looks at the run of a cell with a load of that duration."""
    least, most = RUN_POLL_S
    return min(most, max(least, round(duration.total_seconds() / RUN_POLLS)))
