"""Find the files that Plimsoll ships beside its code, and the folder for what it makes. In a checkout
`plimsoll/shipped` has links to `include/campaigns`, `include/stress` and `include/nodes`; a wheel has the files.
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
    if root := checkout():
        return root / ".plimsoll"
    # https://specifications.freedesktop.org/basedir-spec/latest/
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "plimsoll"
