"""Find the files that Plimsoll ships beside its code, and the folder for what it makes.

Definitions and the sources of its own Java programs are looked for in `plimsoll/shipped`. In a checkout that folder
has links to `include/campaigns`, `include/stress` and `include/nodes`; a wheel contains the files themselves.
"""

import os
from importlib.resources import files
from pathlib import Path

from plimsoll.domain.text.errors import NotFound


def shipped(folder: str) -> Path:
    """Return the folder `campaigns`, `stress` or `nodes`. Raises NotFound where the installation lacks it."""
    found = Path(str(files("plimsoll").joinpath("shipped", folder))).resolve()
    if not found.is_dir():
        raise NotFound("this installation of Plimsoll is incomplete", where=str(found), mend="install its wheel again")
    return found


def checkout() -> Path | None:
    """Return the checkout that this process runs from; None where Plimsoll was installed from a wheel."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "pyproject.toml").is_file() else None


def own_folder() -> Path:
    """Return the folder for results and local clusters: in the checkout, else among the user's data."""
    if root := checkout():
        return root / ".plimsoll"
    # https://specifications.freedesktop.org/basedir-spec/latest/
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "plimsoll"
