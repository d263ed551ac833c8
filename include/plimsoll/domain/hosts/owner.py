"""Who runs a campaign: a process, named so that no other is ever mistaken for it, or a run of an Airflow."""

import re
from datetime import datetime
from typing import Self

from pydantic import ValidationError

from plimsoll.domain.text.base import Model

_KIND = "process:"
INSTALLATION = r"[A-Za-z0-9._-]{1,40}"
"""The form of the ids by which Airflows that share a store are distinguished."""
_OF = rf"@(?P<installation>{INSTALLATION})"
CELL_RUN = re.compile(rf"airflow:(?P<run_id>.+)#(?P<clear_number>\d+){_OF}")
"""The token of one pass of an Airflow run for one cell."""
CAMPAIGN_RUN = re.compile(rf"airflow-campaign:(?P<dag_id>[^/]+)/(?P<run_id>[^@]+){_OF}")
"""The token of a run that works at a whole campaign."""


class ProcessOwner(Model):
    """One process of one machine since that machine's last boot, since pids and host names are used again."""

    host: str
    boot: str
    namespace: int
    """Inode of the process' pid namespace: in containers the same pid names different processes."""
    pid: int
    started: int
    """Clock ticks from the machine's start to the process'."""

    @property
    def token(self) -> str:
        """Return the owner as attempts and clusters record it: `process:<host>/<boot>/<namespace>/<pid>/<started>`."""
        return f"{_KIND}{self.host}/{self.boot}/{self.namespace}/{self.pid}/{self.started}"

    @classmethod
    def parse(cls, owner: str) -> Self | None:
        """Parse the token of a process; None for other owners, such as Airflow's runs."""
        if not owner.startswith(_KIND):
            return None
        names = ("host", "boot", "namespace", "pid", "started")
        try:
            return cls.model_validate(dict(zip(names, owner.removeprefix(_KIND).split("/"), strict=True)))
        except (ValueError, ValidationError):
            return None

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def owner_words(owner: str) -> str:
    """Return an owner in words, such as `process 4711 on lab1`; a token of another kind unchanged.

    A run of Airflow is named with its DAG and the installation, since several may share a store.
    """
    if run := CAMPAIGN_RUN.fullmatch(owner):
        return f"Airflow's run {run['run_id']} of {run['dag_id']}, installation {run['installation']}"
    if run := CELL_RUN.fullmatch(owner):
        return f"Airflow's run {run['run_id']}, installation {run['installation']}"
    return str(ProcessOwner.parse(owner) or owner)


def installation_of(owner: str) -> str:
    """Return the installation of Airflow whose run the owner is; empty for other owners."""
    run = CAMPAIGN_RUN.fullmatch(owner) or CELL_RUN.fullmatch(owner)
    return run["installation"] if run else ""


def is_of_another_airflow(owner: str, asker: str) -> bool:
    """Tell whether both are runs of Airflow, of two that share a store."""
    other, own = installation_of(owner), installation_of(asker)
    return bool(other and own) and other != own


def owner_since(owner: str, since: datetime) -> str:
    """Return an owner in words with its start: `process 4711 on lab1, since 2026-01-31 12:00 UTC`."""
    return f"{owner_words(owner)}, since {since:%Y-%m-%d %H:%M} UTC"
