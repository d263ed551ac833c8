"""The texts of the deployment's files, and what lock files pin."""

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]


def text_of(name: str) -> str:
    """Read a file of this checkout."""
    return (CHECKOUT / name).read_text(encoding="utf-8")


def pins_of(lock: str) -> dict[str, str]:
    """Return each package's version, as the text of a lock file has it."""
    lines = [line.removesuffix(" \\") for line in lock.splitlines() if "==" in line and line[0].isalnum()]
    pairs = [line.split(" ;")[0].split("==") for line in lines]
    return {name.split("[")[0]: version.strip() for name, version in pairs}
