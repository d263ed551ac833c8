"""The command line on instant fakes: a definition, installations with other providers and prices, living clusters."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.fakes import instant
from tests.fakes.paid import Prices
from tests.support.campaigns.small_definition import SMALL

from plimsoll import cli
from plimsoll.adapters.hosts.processes import LocalProcesses
from plimsoll.adapters.providers.ec2 import Ec2Provider, Ec2Tariffs
from plimsoll.bootstrap import build_toolkit
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll.domain.hosts.owner import ProcessOwner
from plimsoll.domain.text.errors import SecretError
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.retries import Outage
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

INSTANT = (
    SMALL.read_text()
    .replace("{name: local}", "{name: instant}")
    .replace("cassandra\n  version", "instant\n  version")
    .replace("load_generator: {threads", "load_generator: {name: instant, threads")
)

Ended = tuple[int | str, str, str]
"""Exit code, standard output, standard error."""


def run_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> Ended:
    """Run the command as the console script does."""
    monkeypatch.setattr("sys.argv", ["plimsoll", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.app()
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


Command = Callable[..., Ended]
"""Runs `plimsoll` with these arguments."""


def settings_in(folder: Path) -> dict[str, str]:
    """Return the variables of an installation on instant fakes, with its store in the folder."""
    places = {"PLIMSOLL_STORE": str(folder / "store"), "PLIMSOLL_WORK": str(folder / "work")}
    return {"PLIMSOLL_TOOLKIT": "tests.fakes.instant:toolkit", **places}


def without_credentials(settings: Settings) -> Toolkit:
    tools = instant.toolkit(settings)
    secrets: Any = NoSecrets()
    connect: Any = None
    outage = Outage(tools.clock)
    ec2 = Ec2Provider(secrets, tools.clock, connect, "store", print, StoredLaunches(tools.store, outage))
    return replace(tools, providers={**tools.providers, "ec2": ec2}, tariffs={"ec2": Ec2Tariffs(secrets)})


class NoSecrets:
    """Implements the Secrets port where there is nothing."""

    def aws(self, connection_id: str) -> NoReturn:
        raise SecretError("there is no such connection", where=f"connection {connection_id!r}")


def paid(settings: Settings) -> Toolkit:
    return replace(instant.toolkit(settings), tariffs={"instant": Prices()})


def ended_process() -> str:
    """Return the token of a process that this machine had before."""
    here = ProcessOwner.parse(LocalProcesses().me())
    assert here is not None
    return here.model_copy(update={"started": 1}).token


def alive(number: int, owner: str = "") -> ClusterId:
    """Return a cluster of that owner, or of a process that has ended."""
    key = ClusterId(campaign_id="demo-1", name=f"g1-00200-r{number}/1")
    owner = owner or ended_process()
    request = ClusterRequest(id=key, owner=owner, nodes=1, expires_at=datetime.now(UTC) + timedelta(hours=1))
    build_toolkit(Settings()).providers["instant"].ensure(request)
    return key
