"""Files in folders of this machine that others see whole or not at all, and that a loss of power leaves whole. Those
that people write are read up to a size limit.

A file's content is on the disk before the file gets its name. Without that, the name of a record, or of a log whose
hosts are gone, may outlive its content. On ext4 on a virtual disk it added 0.3 ms to a record, and nothing that could
be measured to a log of 50 MB, which the system writes to the disk soon in any case.
"""

import os
import re
import shutil
import tempfile
import uuid
from codecs import BOM_UTF8
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from plimsoll.domain.errors import DefinitionError, Problem

_UNFINISHED = ".part"
_MOST_BYTES = 1 << 20
_UTF_16 = re.compile(rb"\xff\xfe|\xfe\xff|\0[ -~]|[ -~]\0")


def put_whole(place: Path, write: Callable[[str], None]) -> None:
    """Have a temporary file written, then give it its name, in place of a file with that name."""
    unfinished = Path(f"{place}.{uuid.uuid4().hex}{_UNFINISHED}")
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        write(str(unfinished))
        _sync(unfinished)
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)
    _sync_names(place.parent)


def create_whole(place: Path, data: bytes) -> bool:
    """Create by a hard link, which fails where the name is taken and never shows a half-written file."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place.parent, suffix=_UNFINISHED, delete=False) as unfinished:
        unfinished.write(data)
    try:
        _sync(Path(unfinished.name))
        os.link(unfinished.name, place)
    except FileExistsError:
        return False
    finally:
        Path(unfinished.name).unlink()
    _sync_names(place.parent)
    return True


def remove(place: Path) -> None:
    """Remove a file, or a folder with all that is in it, as far as it is there."""
    if place.is_dir():
        shutil.rmtree(place, onerror=_unless_missing)
    else:
        with suppress(FileNotFoundError, NotADirectoryError):
            place.unlink()


def is_unfinished(path: str) -> bool:
    """Tell whether it is the name of a temporary file."""
    return path.endswith(_UNFINISHED)


def is_utf_8(name: str) -> bool:
    """Tell whether the name, as this machine's file system gave it, is text that can be stored and sent."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_names(folder: Path) -> None:
    with suppress(OSError):  # not every file system can do that for a folder; then the name alone may be lost
        _sync(folder)


def _unless_missing(_: object, __: str, fault: tuple[Any, BaseException, Any]) -> None:
    if not isinstance(fault[1], FileNotFoundError):
        raise fault[1]


def read_text(path: Path) -> str:
    """Return the text of a file. Raises DefinitionError where it can't be read, is larger than 1 MiB or no UTF-8."""
    data = b""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1).removeprefix(BOM_UTF8)
        if _UTF_16.match(data):
            mend = "save the file as UTF-8: `iconv -f utf-16 -t utf-8`"
            raise DefinitionError([Problem("the whole file", "is UTF-16 text", mend)], where=str(path))
        if len(data) <= _MOST_BYTES:
            return data.decode()
        problem = Problem("the whole file", f"is larger than {_MOST_BYTES >> 20} MiB", "is this the right file?")
    except UnicodeDecodeError as error:
        problem = _not_utf_8(data, error.start)
    except IsADirectoryError:
        problem = Problem("the whole file", "is a folder", "give the YAML file in it")
    except OSError as error:
        problem = Problem("the whole file", f"can't be read: {error.strerror}", "check its path and its rights")
    raise DefinitionError([problem], where=str(path))


def _not_utf_8(data: bytes, place: int) -> Problem:
    line = data.count(b"\n", 0, place) + 1
    what = f"is not UTF-8 text: the byte 0x{data[place]:02x} stands here"
    return Problem(f"line {line}", what, "save the file as UTF-8: `iconv -f latin1 -t utf-8` turns Latin-1 into it")
