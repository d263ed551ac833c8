"""Waiting for Airflow: what it is told to wait for, and why it gives up."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from plimsoll_airflow.local import stack
from plimsoll_airflow.local.client import AirflowClient
from plimsoll_airflow.local.home import Home, StackError
from plimsoll_airflow.local.stack import await_ready

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
BEFORE, AFTER = ((NOON + timedelta(seconds=sign)).isoformat() for sign in (-1, 1))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.create()
    home.log("scheduler").write_text("one\ntwo\n")
    return home


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack, "POLL_S", 0.0)


class Airflow:
    """Answers as an Airflow that comes up: each look finds the next state, the last one for ever."""

    def __init__(
        self, *, beats: list[str], parsed: list[str | None], import_errors: list[dict[str, str]] | None = None
    ) -> None:
        self.beats, self.parsed, self.import_errors = beats, parsed, import_errors or []
        self.asked: list[str] = []
        self.lost = 0
        """The number of next requests for the tasks' API that get no answer in time."""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        if request.url.path == "/execution/health" and self.lost:
            self.lost -= 1
            raise httpx.ReadTimeout("timed out")
        answers: dict[str, Any] = {
            "/auth/token": lambda: {"access_token": "t"},
            "/execution/health": lambda: {},
            "/api/v2/monitor/health": self._health,
            "/api/v2/dags/demo": self._dag,
            "/api/v2/importErrors": lambda: {"import_errors": self.import_errors},
        }
        body = answers[request.url.path]()
        return httpx.Response(200 if body is not None else 404, json=body)

    def client(self) -> AirflowClient:
        return AirflowClient("http://127.0.0.1:1", "secret", wire=httpx.MockTransport(self))

    def _health(self) -> dict[str, Any]:
        beat = self.beats.pop(0) if len(self.beats) > 1 else self.beats[0]
        parts = ("scheduler", "dag_processor", "triggerer")
        return {
            "metadatabase": {"status": "healthy"},
            **{part: {"status": "healthy", f"latest_{part}_heartbeat": beat} for part in parts},
        }

    def _dag(self) -> dict[str, Any] | None:
        parsed = self.parsed.pop(0) if len(self.parsed) > 1 else self.parsed[0]
        return {"dag_id": "demo", "is_paused": True, "last_parsed_time": parsed} if parsed else None


def test_signs_of_life_and_dags_of_an_earlier_stack_do_not_count(home: Home) -> None:
    airflow = Airflow(beats=[BEFORE, BEFORE, AFTER], parsed=[None, BEFORE, AFTER])
    await_ready(airflow.client(), home, {"scheduler": psutil.Process()}, ["demo"], NOON)
    assert (airflow.beats, airflow.parsed) == ([AFTER], [AFTER])


def test_a_look_asks_for_one_dag_that_is_missing_and_for_none_that_was_there(home: Home) -> None:
    airflow = Airflow(beats=[AFTER], parsed=[AFTER, None, None, AFTER, AFTER])
    await_ready(airflow.client(), home, {}, ["demo"] * 3, NOON)
    assert airflow.asked.count("/api/v2/dags/demo") == 5
    assert airflow.asked.count("/api/v2/importErrors") == 2


def test_the_tasks_api_is_built_before_the_stack_counts_as_ready(home: Home) -> None:
    airflow = Airflow(beats=[AFTER], parsed=[AFTER])
    await_ready(airflow.client(), home, {}, [], NOON)
    assert "/execution/health" in airflow.asked


def test_a_tasks_api_that_takes_long_to_build_is_waited_for(home: Home) -> None:
    airflow = Airflow(beats=[AFTER], parsed=[AFTER])
    airflow.lost = 2
    await_ready(airflow.client(), home, {}, [], NOON)
    assert airflow.asked.count("/execution/health") == 3


def test_a_dag_file_that_cant_be_parsed_is_told_with_its_traceback(home: Home) -> None:
    errors = [
        {"filename": "old.py", "timestamp": BEFORE, "stack_trace": "mended since"},
        {"filename": "broken.py", "timestamp": AFTER, "stack_trace": "no water under the keel"},
    ]
    airflow = Airflow(beats=[AFTER], parsed=[None], import_errors=errors)
    with pytest.raises(StackError, match=r"broken\.py: (.|\n)*no water under the keel"):
        await_ready(airflow.client(), home, {}, ["demo"], NOON)


def test_it_gives_up_in_the_end_and_says_what_is_missing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack, "READY_TIMEOUT_S", 0.0)
    airflow = Airflow(beats=[BEFORE], parsed=[None])
    with pytest.raises(StackError, match=r"triggerer: no sign of life(.|\n)*--- scheduler\none\ntwo"):
        await_ready(airflow.client(), home, {"scheduler": psutil.Process()}, [], NOON)


def test_a_process_that_has_ended_is_told_at_once_with_its_last_words(home: Home) -> None:
    airflow = Airflow(beats=[BEFORE], parsed=[None])
    ended = psutil.Popen(["true"])
    ended.wait()
    with pytest.raises(StackError, match="scheduler has ended:\none\ntwo"):
        await_ready(airflow.client(), home, {"scheduler": ended}, [], NOON)
