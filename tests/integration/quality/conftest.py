"""Great Expectations is imported once, and watched: it must leave nothing behind wherever a test runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.quality import engine


@pytest.fixture(scope="session", autouse=True)
def great_expectations() -> Any:
    return engine.load()


@pytest.fixture(autouse=True)
def nothing_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import tempfile

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert list(Path(tmp_path).iterdir()) == []
