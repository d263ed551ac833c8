"""Find latte on a load host: its path and version."""

from dataclasses import dataclass
from datetime import timedelta

from plimsoll.ports.host import Host

PLACES = ("~/.cargo/bin", "/usr/local/bin")
"""Places where a host is searched beside its PATH, which is short for a user who does not log in."""
_TIMEOUT = timedelta(seconds=20)
_OTHER_PLACES = " ".join(f"{place}/latte" for place in PLACES)
_FIND = f"""
at=$(command -v latte || ls {_OTHER_PLACES} 2>/dev/null | head -n 1)
[ -n "$at" ] || exit 0
echo "$at"
"$at" --version
"""


@dataclass(frozen=True)
class Installed:
    """`path` of the program on its host; `version` as latte reports it, such as 0.29.0; empty if it reports none."""

    path: str
    version: str


def installed(host: Host) -> Installed | None:
    """Return the host's installation; None where it has none. Raises HostError."""
    path, *told = host.run(("/bin/sh", "-c", _FIND), timeout=_TIMEOUT, check=False).stdout.splitlines() or [""]
    words = " ".join(told).split()
    return Installed(path, words[-1] if words else "") if path else None
