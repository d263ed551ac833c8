"""Which code this is, told by its source files: checkouts and images carry one version number through many changes."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import plimsoll


@lru_cache(maxsize=1)
def code_version() -> str:
    """Version and a digest of the package's Python files: `0.1.0+3f2a1b9c0d4e`, the same wherever they are the same."""
    root = Path(plimsoll.__file__).parent
    return f"{plimsoll.__version__}+{digest(root)[:12]}"


def digest(root: Path) -> str:
    """SHA-256 over names and contents of the Python files below the folder, in hexadecimal digits."""
    found = sha256()
    for path in sorted(root.rglob("*.py")):
        found.update(f"{path.relative_to(root).as_posix()}\0".encode())
        found.update(sha256(path.read_bytes()).digest())
    return found.hexdigest()
