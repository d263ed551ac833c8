"""The font of all charts: shipped with Plimsoll, so that no font of the machine changes a picture."""

import re
from functools import cache
from hashlib import sha256
from html import unescape
from importlib.resources import as_file, files

FAMILY = "Plimsoll Sans"
_FOLDER = files("plimsoll.report").joinpath("fonts")
_FILES = ("PlimsollSans-Regular.ttf", "PlimsollSans-Bold.ttf")


@cache
def register() -> None:
    """Let vl-convert draw with the font; it does not look into Plimsoll's folders by itself."""
    import vl_convert

    with as_file(_FOLDER) as folder:
        vl_convert.register_font_directory(str(folder))


@cache
def version() -> str:
    """Return the family and a digest of its files: what a bundle records of the font."""
    digest = sha256(b"".join(_FOLDER.joinpath(name).read_bytes() for name in _FILES)).hexdigest()
    return f"{FAMILY} {digest[:12]}"


def lacking(svg: str) -> str:
    """Return the characters of its texts that the font does not have, sorted: the machine's own fonts draw them."""
    written = {character for text in re.findall(r">([^<]+)<", svg) for character in unescape(text)}
    return "".join(sorted(one for one in written if not one.isspace() and not _has(ord(one))))


def _has(code: int) -> bool:
    return any(first <= code <= last for first, last in _ranges())


@cache
def _ranges() -> tuple[tuple[int, int], ...]:
    lines = _FOLDER.joinpath("characters.txt").read_text(encoding="ascii").split()
    return tuple((int(first, 16), int(last, 16)) for first, last in (line.split("-") for line in lines))
