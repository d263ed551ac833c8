"""The folder of a group on a host: as a definition has it, or below the home of the user who logs in."""

import re
from pathlib import PurePosixPath

from plimsoll.adapters.providers.ssh.commands import default_folder_command
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.domain.cluster import HostInfo
from plimsoll.domain.errors import HostError

FOLDER = "folder"
"""The fact of a cluster's host with the folder of the cluster, if that is below a user's home."""
FORMER_DEFAULT = PurePosixPath("/var/tmp/plimsoll")  # noqa: S108
"""The folder of definitions without one, until the default was below the home. Existing clusters keep it."""

_HOME = "~"
_PLAIN = re.compile(r"(/[A-Za-z0-9._-]+)+")
_ANSWER_S = 60.0


def absolute(written: PurePosixPath, connection: Connection, where: str) -> PurePosixPath:
    """Return the path on the host, which is asked once for each connection.

    HostError where it can't be asked or used.
    """
    if not is_below_home(written):
        return written
    if written not in connection.folders:
        connection.folders[written] = _found_on_host(written, connection, where)
    return connection.folders[written]


def is_below_home(written: PurePosixPath) -> bool:
    """Tell whether the path begins with the user's home."""
    return written.parts[0] == _HOME


def folder_of(info: HostInfo, written: PurePosixPath) -> PurePosixPath:
    """Return the folder on a host of a cluster, which does not have to answer."""
    return PurePosixPath(info.facts.get(FOLDER, FORMER_DEFAULT)) if is_below_home(written) else written


def _found_on_host(written: PurePosixPath, connection: Connection, where: str) -> PurePosixPath:
    line = default_folder_command(written.relative_to(_HOME), FORMER_DEFAULT)
    answer = connection.execute(line, timeout_s=_ANSWER_S)
    found = answer.stdout.decode(errors="replace").strip()
    if answer.exit_code != 0 or _PLAIN.fullmatch(found) is None:
        what = f"the home of its user can't be used: {found or answer.stderr.decode(errors='replace').strip()}"
        raise HostError(what, where=where, mend="name another folder in `provider.options.folder`")
    return PurePosixPath(found)
