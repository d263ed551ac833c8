"""Vega's runtime as one script, which draws the charts of a page.

vl-convert takes more than a second of processor time to make it, in each process that makes a page, and makes the same
script as long as its version is the same. So the script is kept beside what Python keeps of this module.
"""

import gzip
import importlib.util
import os
import sys
import zlib
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

_LIBRARY = "vl-convert-python"


def runtime() -> str:
    """Return the script, made anew where this version's is not kept yet or is damaged."""
    kept = folder() / f"vega-{version(_LIBRARY)}.js.gz"
    with suppress(OSError, EOFError, zlib.error):
        if script := gzip.decompress(kept.read_bytes()).decode():
            return script
    made = bundled()
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            _keep(kept, made)
    return made


def folder() -> Path:
    """Return the folder where Python keeps what it compiled of this module."""
    return Path(importlib.util.cache_from_source(__file__)).parent


def bundled() -> str:
    """Return the script as vl-convert makes it."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def _keep(place: Path, script: str) -> None:
    """Write the script whole or not at all, whichever other process does the same, and remove scripts of other
    versions.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = place.with_name(f"{place.name}.{os.getpid()}")
    unfinished.write_bytes(gzip.compress(script.encode(), compresslevel=6, mtime=0))
    unfinished.replace(place)
    for other in place.parent.glob("vega-*.js.gz"):
        if other != place:
            other.unlink(missing_ok=True)
