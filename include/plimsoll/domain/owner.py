"""The process that runs a campaign, named so that no other process is ever mistaken for it."""

import re
from datetime import datetime
from typing import Self

from pydantic import ValidationError

from plimsoll.domain.base import Model

_KIND = "process:"
_RUN = re.compile(r"airflow:(.+)#\d+")
"""The token of a pass of a run of Airflow's."""
_CAMPAIGN_RUN = re.compile(r"airflow-campaign:([^/]+)/(.+)")
"""The token of a run that works at a whole campaign."""


class ProcessOwner(Model):
    """One process of one machine since that machine's last boot, since pids and host names are used again."""

    host: str
    boot: str
    namespace: int
    """Inode of its pid namespace: in containers the same pid names different processes."""
    pid: int
    started: int
    """Clock ticks from the machine's start to the process'."""

    @property
    def token(self) -> str:
        """The owner as attempts and clusters record it: `process:<host>/<boot>/<namespace>/<pid>/<started>`."""
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
    """An owner in words: `process 4711 on lab1`, `Airflow's run demo-1__g1-00200-r1`; any other token unchanged."""
    if of_campaign := _CAMPAIGN_RUN.fullmatch(owner):
        return f"Airflow's run {of_campaign[2]} of {of_campaign[1]}"
    run = _RUN.fullmatch(owner)
    return f"Airflow's run {run[1]}" if run else str(ProcessOwner.parse(owner) or owner)


def owner_since(owner: str, since: datetime) -> str:
    """An owner in words with its start: `process 4711 on lab1, since 2026-01-31 12:00 UTC`."""
    return f"{owner_words(owner)}, since {since:%Y-%m-%d %H:%M} UTC"
