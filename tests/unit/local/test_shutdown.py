"""Whose clusters end with the stack, and before it starts."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest

from plimsoll_airflow.local import shutdown
from plimsoll_airflow.local.guard import Guard
from plimsoll_airflow.local.home import Home, StackError
from plimsoll_airflow.local.process_environment import StackSettings
from plimsoll_airflow.local.stack import Stack
from plimsoll_airflow.runs.ownership import INSTALLATION_ENVIRONMENT

OURS, THEIRS = "demo-1/g1-00200-r1/1", "mine/g1-00200-r1/1"


class Destroyed:
    """Stands in for `plimsoll clusters destroy`: notes its options, and leaves one cluster alone unless told not to."""

    def __init__(self, *, code: int = 0) -> None:
        self.options: list[str] = []
        self._code = code

    def __call__(self, command: Sequence[str], **_: object) -> "subprocess.CompletedProcess[str]":
        self.options = [*command[3:]]
        kept = {} if "--others" in command else {"kept": [THEIRS]}
        failed = {OURS: "it resists"} if self._code else {}
        return subprocess.CompletedProcess(
            command, self._code, json.dumps({"failed": failed, "unseen": [], **kept}), ""
        )


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Destroyed:
    monkeypatch.setattr(subprocess, "run", destroyed := Destroyed())
    return destroyed


def test_clusters_on_which_others_work_are_left_alone_and_named(command: Destroyed) -> None:
    assert shutdown.destroy_clusters({INSTALLATION_ENVIRONMENT: "5f3a91c2d04b"}) == (THEIRS,)
    assert command.options == ["--all", "--here", "--ended-airflow", "5f3a91c2d04b", "--json"]


def test_where_all_are_asked_for_none_is_left(command: Destroyed) -> None:
    assert shutdown.destroy_clusters({}, others=True) == ()
    assert command.options == ["--all", "--here", "--others", "--json"]


def test_a_cluster_that_resists_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", Destroyed(code=1))
    with pytest.raises(StackError, match=f"{OURS}: it resists"):
        shutdown.destroy_clusters({})


class Clusters:
    """Notes whether those of others were to end, too."""

    def __init__(self) -> None:
        self.asked: list[bool] = []

    def __call__(self, _environment: Mapping[str, str], others: bool) -> Sequence[str]:
        self.asked.append(others)
        return () if others else (THEIRS,)


def stack(folder: Path, clusters: Clusters, said: list[str]) -> Stack:
    settings = StackSettings(dags=folder, store="s", cache=folder, work=folder, campaigns=folder)
    made = Stack(Home(folder / "airflow"), settings, log=said.append, destroy_clusters=clusters)
    made.home.create()
    return made


def test_a_start_leaves_clusters_alone_on_which_others_work_and_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_further(*_: Any) -> NoReturn:
        raise StackError("no further")

    monkeypatch.setattr(Guard, "start", no_further)
    clusters, said = Clusters(), list[str]()
    with suppress(StackError):
        stack(tmp_path, clusters, said).up(kept=True)
    assert clusters.asked == [False, False]  # before the start, and after it failed
    assert said[0] == f"left alone, because somebody works on it: {THEIRS} (see `plimsoll clusters list`)"


def test_a_stop_that_is_asked_for_ends_every_cluster(tmp_path: Path) -> None:
    clusters, said = Clusters(), list[str]()
    stack(tmp_path, clusters, said).down(others=True)
    assert (clusters.asked, said) == ([True], [])
