from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.settings import Settings


@pytest.fixture(scope="session")
def shared_cache() -> Any:
    """Provide the cache that the demo uses too: big downloads happen once on a machine."""
    return Settings().cache


@pytest.fixture
def artefacts(shared_cache: Any) -> Artefacts:
    return Artefacts(shared_cache, print)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let whatever reaches for a registry meet a closed port."""
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
