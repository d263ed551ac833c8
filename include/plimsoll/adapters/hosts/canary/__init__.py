"""The performance check of hosts before their load, by a script that runs on any host with Python 3."""

import json
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from plimsoll.adapters.hosts.base import PYTHON
from plimsoll.adapters.hosts.onhost import canary
from plimsoll.domain.keys.host_bounds import HostFigures
from plimsoll.domain.text.errors import HostError
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.host import Host, at_once

_FOLDER = "canary"
# A host waits up to 60 s for its neighbour (`Effort.patience_s`), and then says itself that nobody came
_TIMEOUT = timedelta(minutes=2)


class ScriptCanary:
    """An implementation of the HostCanary port."""

    def __init__(self, effort: canary.Effort = canary.USUAL) -> None:
        self._effort = json.dumps(effort._asdict())

    def examine(self, hosts: Sequence[Host]) -> list[HostFigures]:
        """Measure processors and disks of all hosts at once, then the network: each host in turn sends to the next.

        A host's figure is the better one of its two links, so that a bad host does not affect its neighbours.
        """
        alone = at_once(hosts, self._measured)
        received = [self._throughput(hosts[number - 1], host) for number, host in enumerate(hosts)]
        sent = [*received[1:], received[0]]
        return [
            HostFigures(host=host.info.name, network_bytes_s=max(links), **figures)
            for host, figures, links in zip(hosts, alone, zip(received, sent, strict=True), strict=True)
        ]

    def _measured(self, host: Host) -> dict[str, float]:
        folder = host.root / _FOLDER
        host.write(_script(host), Path(canary.__file__).read_text(encoding="utf-8"))
        figures: dict[str, float] = self._run(host, "measure", str(folder))
        return figures

    def _throughput(self, sender: Host, receiver: Host) -> float:
        """Return bytes per second from one host to the other."""
        link = (receiver.info.address, str(receiver.free_port()), secrets.token_hex(8))
        with ThreadPoolExecutor(1) as pool:
            receiving = pool.submit(self._run, receiver, "receive", *link)
            self._run(sender, "send", *link)
            figure: float = receiving.result()
        return figure

    def _run(self, host: Host, command: str, *arguments: str) -> Any:
        argv = (*PYTHON, str(_script(host)), command, self._effort, *arguments)
        printed = host.run(argv, timeout=_TIMEOUT).stdout
        try:
            return json.loads(printed)
        except ValueError as error:
            what = f"its canary gave no figures: {shortened(printed)!r}"
            raise HostError(what, where=f"host {host.info.name}", mend="see what prints there") from error


def _script(host: Host) -> PurePosixPath:
    return host.root / _FOLDER / "canary.py"
