"""Write files atomically, and explain errors of the file system."""

import errno
import uuid
from pathlib import Path


def write_whole(path: Path, content: str) -> None:
    """Write a text file with its folders, for this user alone.

    Readers see the old content or the new, never a part. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        unfinished.touch(mode=0o600, exist_ok=False)
        unfinished.write_text(content, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def mend(error: OSError, place: Path) -> str:
    """Return the advice for an error of the operating system at that path."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"free disk space or raise the quota below {place}, then run the cell again"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"give the user who runs Plimsoll the right to write to {place}, or set PLIMSOLL_WORK to another folder"
    return f"look at {place}, then run the cell again"
