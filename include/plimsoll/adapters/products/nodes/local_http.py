"""Ask processes over HTTP on their own machine: their ports ask nobody for a password, so they are open to it alone."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from plimsoll.adapters.products.nodes import rest_client
from plimsoll.adapters.products.nodes.answers import answer_of
from plimsoll.adapters.products.nodes.compactions import PATIENCE
from plimsoll.adapters.products.nodes.node_state import name_of
from plimsoll.ports.host import Host

_CLIENT = ("python3", "-I", "-S", "-B", "-c", Path(rest_client.__file__).read_text(encoding="utf-8"))
"""Not written to the host, since processes that start are asked several times a second."""
_ANSWER = timedelta(minutes=1)


def get(host: Host, *urls: str) -> list[Any]:
    """Return what each URL answers, which is JSON; None where there is no answer.

    Raises DeployError where that host can't ask.
    """
    result = host.run((*_CLIENT, "get", *urls), timeout=_ANSWER, check=False)
    told = answer_of(result, "get", where=f"host {name_of(host)}", mend="see whether it has python3")
    return [one.get("answer") for one in told]


def save(host: Host, url: str, file: PurePosixPath) -> None:
    """Write the answer to a file of that host, if there is one."""
    host.run((*_CLIENT, "save", str(file), url), timeout=_ANSWER, check=False)


def settle_command(endings: Sequence[str], urls: Sequence[str]) -> tuple[str, ...]:
    """Return the command that waits until no URL tells of work left."""
    return (*_CLIENT, "settle", str(PATIENCE.total_seconds()), ",".join(endings), *urls)
