"""Run a command from folders in which nobody but this user and root can change anything.

Its text is given to `python3 -c`, so that it lies in no folder itself; it imports nothing of its own.

`python3 -c TEXT PLACE… -- COMMAND ARGUMENT…` makes the places that are missing, looks at them and at every folder above
them, and becomes the command, with the first place as its working folder. A command that is a folder is a program in
Python, as for `python3 FOLDER`.
"""

from __future__ import annotations

import grp
import os
import pwd
import runpy
import stat
import sys
from pathlib import Path

PRIVATE = 0o700
# The code with which Python itself ends when it can't open its program, so callers know one code alone
_NO_PROGRAM = 2


def make_private(place: str) -> None:
    """Have the folder there for this user alone, below folders that no other user can change. Links aren't followed.

    Raises OSError that names the first folder on the way that another user could change or replace.
    """
    for folder in [*reversed(Path(place).parents), Path(place)]:
        require_safe(folder, _made(folder))
    if os.lstat(place).st_uid != os.geteuid():
        raise PermissionError(f"{place} belongs to {_user(os.lstat(place).st_uid)}: remove it, or use another folder")
    os.chmod(place, PRIVATE)  # noqa: PTH101 - it is no link


def _made(folder: Path) -> os.stat_result:
    try:
        return folder.lstat()
    except FileNotFoundError:
        folder.mkdir(PRIVATE, exist_ok=True)
        return folder.lstat()


def require_safe(folder: Path, found: os.stat_result) -> None:
    """Raise OSError unless nobody but this user and root can replace what lies in the folder.

    In a sticky folder, such as /tmp, only the owner of an entry can replace it.
    """
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"Not a directory: {folder} is a link or a file; name a folder without links")
    if found.st_uid not in (0, os.geteuid()):
        raise PermissionError(f"{folder} belongs to {_user(found.st_uid)}, who could replace what lies below it")
    if _others_may_write(found) and not found.st_mode & stat.S_ISVTX:
        raise PermissionError(f"other users may write to {folder}: `chmod go-w {folder}`, or use another folder")


def _others_may_write(found: os.stat_result) -> bool:
    """Tell whether other users may write. A group does not count if nobody else is in it: a user's own, or root's.

    Images of Airflow have its user in root's group, whom the volumes of Kubernetes are given to.
    """
    if found.st_mode & stat.S_IWOTH or not found.st_mode & stat.S_IWGRP:
        return bool(found.st_mode & stat.S_IWOTH)
    try:
        name, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(found.st_gid)
    except KeyError:
        return True
    members = set(group.gr_mem)
    if group.gr_name != name:
        if group.gr_gid != 0:
            return True
        # `gr_mem` leaves out users whose primary group it is
        members |= {user.pw_name for user in pwd.getpwall() if user.pw_gid == 0 and user.pw_uid != 0}
    return not members <= {name, "root"}


def _user(uid: int) -> str:
    return f"user {uid}, not to user {os.geteuid()}"


def main(*arguments: str) -> None:
    """Look at the places, and become the command. What it makes is for this user alone."""
    os.umask(0o077)
    end = arguments.index("--")
    for place in arguments[:end]:
        make_private(place)
    command = arguments[end + 1 :]
    os.chdir(arguments[0])
    if not os.path.isabs(command[0]):  # noqa: PTH117 - a name alone is looked for on the PATH
        os.execvp(command[0], command)  # noqa: S606
    if not os.path.isfile(os.path.join(command[0], "__main__.py")):  # noqa: PTH113, PTH118
        sys.exit(_NO_PROGRAM)
    sys.argv[:] = command
    runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as refused:
        sys.exit(str(refused))
