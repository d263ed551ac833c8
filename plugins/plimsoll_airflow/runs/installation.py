"""The id of this Airflow, the installation, among all that share a result store.

Runs of two Airflows may have the same ids, so the tokens of owners contain the installation's id too. It lasts as long
as the metadata database: the scheduler makes it at its first start, as a Variable. Tasks that it forks inherit the id
in their environment; others, such as Celery's, ask for the Variable.
"""

import logging
import os
import re
import secrets
from typing import Any

from airflow.listeners import hookimpl

from plimsoll.adapters.clock import SystemClock
from plimsoll.domain.hosts.owner import INSTALLATION
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.services.retries import SOON_S, with_retries
from plimsoll_airflow.internals.inventory import ensure_variable
from plimsoll_airflow.internals.supervisor import is_scheduler
from plimsoll_airflow.runs.ownership import INSTALLATION_ENVIRONMENT, INSTALLATION_VARIABLE

PAUSES_S = SOON_S
_ABOUT = (
    "Names this Airflow among those that share a result store with it. Change it only while nothing runs, and restart "
    "the scheduler then."
)
_BYTES = 6
_MEND = "restart the scheduler, which makes it where it is missing; letters, digits, `.`, `_` and `-` are allowed"


_log = logging.getLogger(__name__)


@hookimpl
def on_starting(component: Any) -> None:
    """Learn the installation's id. Airflow calls this in each of its long-lived processes and in each task.

    The scheduler makes the id, unless the environment or a secrets backend gives one. It also puts the id into its
    environment, so that the tasks that it forks need not ask the api-server.
    """
    if is_scheduler(component):
        installation = find_installation() or ensure_variable(INSTALLATION_VARIABLE, secrets.token_hex(_BYTES), _ABOUT)
        os.environ[INSTALLATION_ENVIRONMENT] = installation


def own_installation() -> str:
    """Return the id, for tasks. Raises Refused where there is none, or one that can't be part of a token.

    It is asked for again, because to Airflow a Variable is not there while the api-server or its database is away.
    """
    return with_retries(SystemClock(), _require_installation, _log.warning, again=(Refused,), pauses_s=PAUSES_S)


def _require_installation() -> str:
    installation = find_installation()
    if not re.fullmatch(INSTALLATION, installation):
        what = f"is no id of an installation: {installation!r}"
        raise Refused([Problem(f"the Variable {INSTALLATION_VARIABLE}", what, _MEND)])
    return installation


def find_installation() -> str:
    """Return the id, in tasks and in the api-server; empty before the scheduler has made it."""
    if inherited := os.environ.get(INSTALLATION_ENVIRONMENT):
        return inherited
    from airflow.sdk import Variable  # late, for every process loads plugins

    return str(Variable.get(INSTALLATION_VARIABLE, default=""))
