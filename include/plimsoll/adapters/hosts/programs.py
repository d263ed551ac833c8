"""The programs of a definition's commands, looked for on a host before any of them runs."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from plimsoll.ports.host import Host

_PATIENCE = timedelta(seconds=20)
_LOOK = 'for program; do command -v "$program" >/dev/null || printf "%s\\n" "$program"; done'


def missing(host: Host, programs: Iterable[str]) -> Sequence[str]:
    """Return those that are neither on the host's PATH nor at their path. Raises HostError.

    Programs below the host's own folder are left out, as an earlier command may make them, and paths that depend on the
    folder in which they run.
    """
    sought = [one for one in dict.fromkeys(programs) if one.startswith("/") or "/" not in one]
    sought = [one for one in sought if one and not one.startswith(f"{host.root}/")]
    if not sought:
        return ()
    return host.run(("/bin/sh", "-c", _LOOK, "sh", *sought), timeout=_PATIENCE).stdout.splitlines()
