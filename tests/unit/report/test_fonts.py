"""Pictures of charts on machines with different fonts."""

import os
import struct
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from plimsoll.report.charts import theme

DRAW = """
import sys
from plimsoll.report.charts.theme import Figure
from plimsoll.report.charts.rendering import drawing, pictures
spec = {"data": {"values": [{"x": "Ägypten, 1,234 µs"}]}, "mark": {"type": "text", "fontWeight": sys.argv[1]},
        "encoding": {"text": {"field": "x"}, "y": {"field": "x", "title": "A title (ops/s)"}}}
for content in pictures("one", drawing(Figure("one", "A chart", "", spec))).values():
    sys.stdout.buffer.write(content)
"""

_FAMILY_AND_POSTSCRIPT = (1, 6)


def renamed(font: bytes, family: str) -> bytes:
    """Return the same font under another family's name, of ordinary weight."""
    text = family.encode("utf-16-be")
    records = [struct.pack(">6H", 3, 1, 0x409, kind, len(text), 0) for kind in _FAMILY_AND_POSTSCRIPT]
    table = struct.pack(">3H", 0, len(records), 6 + 12 * len(records)) + b"".join(records) + text
    changed = bytearray(font)
    for entry in range(12, 12 + 16 * struct.unpack_from(">H", font, 4)[0], 16):
        tag, _, place, _ = struct.unpack_from(">4s3I", font, entry)
        if tag == b"name":
            struct.pack_into(">II", changed, entry + 8, len(font), len(table))
        if tag == b"OS/2":
            struct.pack_into(">H", changed, place + 4, 400)
    return bytes(changed) + table


def drawn(folder: Path, installed: Path, weight: str) -> bytes:
    """Return a chart's pictures as a process makes them on a machine that has the fonts of the folder `installed`
    alone.
    """
    config = folder / f"{installed.name}.conf"
    config.write_text(f"<?xml version='1.0'?><fontconfig><dir>{installed}</dir></fontconfig>")
    environment = os.environ | {"FONTCONFIG_FILE": str(config)}
    command = [sys.executable, "-c", DRAW, weight]
    return subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120).stdout


def test_pictures_are_the_same_bytes_whatever_fonts_are_installed(tmp_path: Path) -> None:
    odd, none = tmp_path / "odd", tmp_path / "none"
    odd.mkdir()
    none.mkdir()
    bold = files("plimsoll.report").joinpath("fonts", "PlimsollSans-Bold.ttf").read_bytes()
    for family in ("Liberation Sans", "Arial", "sans-serif"):
        (odd / f"{family}.ttf").write_bytes(renamed(bold, family))
    assert drawn(tmp_path, odd, "normal") == drawn(tmp_path, none, "normal")


@pytest.mark.parametrize(
    ("text", "missing"),
    [("p99.9 ≤ 100 ms – µ×", ""), ("Ελλάδα, Москва", ""), ("漢字 and &#x2713;", "✓字漢"), ("a &lt; b", "")],
)
def test_characters_that_the_font_lacks_are_known(text: str, missing: str) -> None:
    assert theme.lacking(f"<svg><text>{text}</text>\n</svg>") == missing


def test_the_font_may_be_passed_on() -> None:
    licence = files("plimsoll.report").joinpath("fonts", "OFL.txt").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    assert "Reserved Font Name Liberation" in licence
