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

_PYTHON = ("python3", "-I", "-S", "-B")
_ANSWER = timedelta(minutes=1)


def get(host: Host, *urls: str) -> list[Any]:
    """Return what each URL answers, which is JSON; None where there is no answer.

    Raises DeployError where that host can't ask.
    """
    result = host.run(_command(host, "get", *urls), timeout=_ANSWER, check=False)
    told = answer_of(result, "get", where=f"host {name_of(host)}", mend="see whether it has python3")
    return [one.get("answer") for one in told]


def save(host: Host, url: str, file: PurePosixPath) -> None:
    """Write the answer to a file of that host, if there is one."""
    host.run(_command(host, "save", str(file), url), timeout=_ANSWER, check=False)


def settle_command(host: Host, endings: Sequence[str], urls: Sequence[str]) -> tuple[str, ...]:
    """Return the command that waits on that host until no URL tells of work left."""
    return _command(host, "settle", str(PATIENCE.total_seconds()), ",".join(endings), *urls)


def _command(host: Host, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs the client on that host, after writing it there."""
    program = host.root / "rest_client.py"
    host.write(program, Path(rest_client.__file__).read_text(encoding="utf-8"))
    return (*_PYTHON, str(program), *arguments)
