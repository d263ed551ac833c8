"""Copy the program for hosts (`adapters.onhost`) to a host, and call it."""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from plimsoll.adapters.hosts import onhost
from plimsoll.adapters.hosts.host_files import mend_of
from plimsoll.adapters.providers.ssh.bundles import Bundle, deliver, make_bundle
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.adapters.providers.ssh.execution import Answer, Input, program_command
from plimsoll.domain.text.errors import HostError

_PACKAGE = Path(onhost.__file__).parent
_ENTRY = "__main__.py"
# What Python ends with when it can't open what it is to run.
_NO_PROGRAM = 2


class Program:
    """The program on one host. `bundles` is the folder to copy it to, `where` names the host in errors."""

    def __init__(
        self, connection: Connection, bundles: PurePosixPath, where: str, tags: Mapping[str, str] | None = None
    ) -> None:
        self._connection, self._bundles, self._where, self._tags = connection, bundles, where, tags or {}

    def call(self, command: str, *, timeout_s: float, **request: Any) -> Any:
        """Return the answer to a request that may be repeated. Raises HostError with the host's error message."""
        answer = self._ask(command, timeout_s, request)
        if answer.exit_code == _NO_PROGRAM:  # someone has removed it since it was brought there
            self._connection.delivered.clear()
            answer = self._ask(command, timeout_s, request)
        if answer.exit_code != 0:
            said = answer.stderr.decode(errors="replace").strip()
            raise HostError(f"{command}: {said}", where=self._where, mend=mend_of(said, self._bundles))
        return answer.parsed(self._where)

    def _ask(self, command: str, timeout_s: float, request: Mapping[str, Any]) -> Answer:
        def feed(stdin: Input) -> None:
            stdin.write(json.dumps(request).encode())

        place = deliver(self._connection, program_bundle(), self._bundles, self._where)
        line = program_command(place, command, self._tags)
        return self._connection.execute(line, timeout_s=timeout_s, feed=feed)


@lru_cache(maxsize=1)
def program_bundle() -> Bundle:
    """Return the sources, arranged so that their folder is a program and they import one another by their own names."""
    package = PurePosixPath(*onhost.__name__.split("."))
    sources = {str(package / file.name): file for file in sorted(_PACKAGE.glob("*.py"))}
    return make_bundle("onhost", {**sources, _ENTRY: _PACKAGE / _ENTRY})
