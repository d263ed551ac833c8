"""Refuse folders of this machine that hold programs where another user could change them."""

import os
import stat
from pathlib import Path

from plimsoll.adapters.hosts.onhost import guard


def require_guarded(place: Path) -> None:
    """Raise OSError if a user besides this one and root could change the folder's content, or replace the folder.

    A folder on the way that is missing is made later, by this user. Links that nobody else could change are followed.
    """
    for part in [*reversed(place.parents), place]:
        try:
            found = part.lstat()
        except FileNotFoundError:
            return
        if not stat.S_ISLNK(found.st_mode):
            guard.require_safe(part, found)
        elif found.st_uid in (0, os.geteuid()):
            require_guarded(part.resolve())
        else:
            raise PermissionError(f"the link {part} belongs to user {found.st_uid}")
