import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.artefacts import maven
from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.maven import LockedJar, LockedSet, jar_folder
from plimsoll.domain.text.errors import ArtefactError


def locked(*names: str) -> LockedSet:
    found = [
        LockedJar(coordinates=f"org:{name}:1", sha256=hashlib.sha256(name.encode()).hexdigest(), size_bytes=len(name))
        for name in names
    ]
    return LockedSet(name="some", roots=(), jars=tuple(found))


@pytest.fixture
def log() -> list[Any]:
    return []


@pytest.fixture
def cache(tmp_path: Path, log: list[Any]) -> Cache:
    return Cache(tmp_path, log.append)


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Provide a repository that has every jar, keeps what was asked of it, and fails at the names in `away`."""

    class Repository:
        asked: list[str] = []
        away: set[str] = set()

        def fetch(self, wanted: Any, scratch: Path) -> Iterator[tuple[Any, Any]]:
            for jar in wanted:
                name = jar.coordinates.split(":")[1]
                if name in self.away:
                    raise ArtefactError("the repository is away")
                self.asked.append(name)
                (scratch / jar.name).write_text(name)
                yield jar, scratch / jar.name

    repository = Repository()
    repository.asked, repository.away = [], set()
    monkeypatch.setattr(maven, "fetch", repository.fetch)
    return repository


def test_every_jar_lies_in_the_folder(cache: Cache, repository: Any, log: list[Any]) -> None:
    folder = jar_folder(cache, locked("a", "b"))
    assert sorted(path.name for path in folder.glob("*.jar")) == ["a-1.jar", "b-1.jar"]
    assert log == ["fetching some: 2 jars, 0 MB", "some is ready: 2 jars, 0 MB"]


def test_a_full_folder_asks_nothing(cache: Cache, repository: Any, log: list[Any]) -> None:
    jar_folder(cache, locked("a"))
    log.clear()
    jar_folder(cache, locked("a"), thorough=True)
    assert repository.asked == ["a"]
    assert log == []


def test_an_interrupted_run_keeps_what_it_had(cache: Cache, repository: Any) -> None:
    repository.away = {"c"}
    with pytest.raises(ArtefactError):
        jar_folder(cache, locked("a", "b", "c"))
    repository.away = set()
    jar_folder(cache, locked("a", "b", "c"))
    assert repository.asked == ["a", "b", "c"]


def test_a_damaged_jar_alone_is_fetched_again(cache: Cache, repository: Any) -> None:
    folder = jar_folder(cache, locked("a", "b"))
    (folder / "b-1.jar").write_text("damage")
    jar_folder(cache, locked("a", "b"))
    assert repository.asked == ["a", "b", "b"]
    assert (folder / "b-1.jar").read_text() == "b"


def test_another_lock_leaves_the_old_folder_alone(cache: Cache, repository: Any) -> None:
    assert jar_folder(cache, locked("a")) != jar_folder(cache, locked("a", "b"))
    assert (jar_folder(cache, locked("a")) / "a-1.jar").is_file()
