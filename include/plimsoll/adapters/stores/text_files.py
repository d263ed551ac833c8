"""Read text files that people write, up to a size limit."""

import re
from codecs import BOM_UTF8
from pathlib import Path

from plimsoll.domain.errors import DefinitionError, Problem

_MOST_BYTES = 1 << 20
_UTF_16 = re.compile(rb"\xff\xfe|\xfe\xff|\0[ -~]|[ -~]\0")


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises DefinitionError where it can't be read, is larger than 1 MiB or is not UTF-8.
    """
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
