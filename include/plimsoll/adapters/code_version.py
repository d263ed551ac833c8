"""The version of the running code, by its source files: a version number stays the same through many changes."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import plimsoll


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the version with a digest of its Python files: `0.1.0+3f2a1b9c0d4e`. Equal files give equal versions."""
    root = Path(plimsoll.__file__).parent
    return f"{plimsoll.__version__}+{digest(root)[:12]}"


def digest(root: Path) -> str:
    """Compute the SHA-256 over names and contents of the Python files below the folder, in hexadecimal digits."""
    total = sha256()
    for path in sorted(root.rglob("*.py")):
        total.update(f"{path.relative_to(root).as_posix()}\0".encode())
        total.update(sha256(path.read_bytes()).digest())
    return total.hexdigest()
