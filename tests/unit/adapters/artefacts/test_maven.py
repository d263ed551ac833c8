import hashlib
import time
from pathlib import Path
from typing import Any

import pytest
import requests

from plimsoll.adapters.artefacts.maven import LockedJar, fetch
from plimsoll.domain.text.errors import ArtefactError

JAR = LockedJar(coordinates="org.x:a:1", sha256=hashlib.sha256(b"right").hexdigest(), size_bytes=5)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the repository answer these in turn, and the waits between tries pass at once."""
    from jgo.maven import PythonResolver

    planned: list[object] = []

    def download(self: Any, artifact: Any) -> Path:
        answer = planned.pop(0)
        if isinstance(answer, Exception):
            raise answer
        artifact.cached_path.parent.mkdir(parents=True, exist_ok=True)
        assert not artifact.cached_path.exists()
        artifact.cached_path.write_bytes(answer)
        return artifact.cached_path

    monkeypatch.setattr(PythonResolver, "download", download)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    return planned


def test_a_jar_comes_with_its_file(answers: Any, tmp_path: Path) -> None:
    answers.append(b"right")
    [(jar, path)] = fetch([JAR], tmp_path)
    assert (jar, path.read_bytes()) == (JAR, b"right")
    assert path.is_relative_to(tmp_path)


def test_cut_wrong_and_refused_downloads_are_tried_again(answers: Any, tmp_path: Path) -> None:
    answers += [requests.ConnectionError("cut"), b"wro", b"right"]
    assert len(list(fetch([JAR], tmp_path))) == 1
    assert answers == []


def test_the_tries_are_bounded(answers: Any, tmp_path: Path) -> None:
    answers += [RuntimeError("503")] * 9
    with pytest.raises(ArtefactError, match=r"org\.x:a:1: the Maven repository does not give it: 503"):
        list(fetch([JAR], tmp_path))
    assert len(answers) == 6


def test_a_repository_out_of_reach_is_said_with_how_to_mend_it(answers: Any, tmp_path: Path) -> None:
    answers += [requests.ConnectionError("no route")] * 3
    with pytest.raises(ArtefactError, match=r"can't be reached: no route(.|\n)*HTTPS_PROXY"):
        list(fetch([JAR], tmp_path))


def test_a_file_other_than_the_locked_one_is_refused(answers: Any, tmp_path: Path) -> None:
    answers += [b"wrong"] * 3
    with pytest.raises(ArtefactError, match="the lock says"):
        list(fetch([JAR], tmp_path))
