"""How much room campaigns take."""

from pathlib import Path

from tests.fakes.installation import Installation

from plimsoll.services.housekeeping.known import Usage, usage
from plimsoll.services.toolkit import Toolkit


def test_every_byte_of_the_store_counts_once_by_its_kind(tools: Toolkit, installation: Installation) -> None:
    root = installation.folder / "store"
    tools.store.write(".full-zones/eu-west-1a", b"12345")
    tools.store.write("loose", b"123")

    mine, rest = usage(tools.store)

    assert rest == Usage("", 3, 0, 0, 0, 8)  # and, empty, that `mine` is a campaign of its definition
    assert mine.raw == _size(root, "mine/cells/*/*/raw/**/*") > 0
    assert mine.report == _size(root, "mine/report/**/*") > 0
    of_attempts = _size(root, "mine/cells/*/*/*.parquet") + _size(root, "mine/cells/*/*/quality/**/*")
    assert mine.derived == of_attempts + _size(root, "mine/quality/**/*")
    assert mine.total + rest.total == _size(root, "**/*")
    assert mine.files == len([path for path in (root / "mine").rglob("*") if path.is_file()])


def _size(root: Path, pattern: str) -> int:
    return sum(path.stat().st_size for path in root.glob(pattern) if path.is_file())
