"""The client of Airflow's REST API, against a wire that answers as told."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from plimsoll_airflow.local import client as api
from plimsoll_airflow.local.client import AirflowClient, DagRun
from plimsoll_airflow.local.home import ApiError

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
RUN = {"dag_id": "demo", "dag_run_id": "r1", "state": "queued", "run_after": NOON.isoformat(), "conf": {"a": 1}}

Answer = Callable[[httpx.Request], httpx.Response]


class Wire:
    """Hands out a token, and answers the rest in the order given, the last one for ever; keeps what was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []
        self.tokens = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/auth/token":
            assert json.loads(request.content) == {"username": "admin", "password": "secret"}
            self.tokens += 1
            return httpx.Response(201, json={"access_token": f"token-{self.tokens}"})
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self) -> AirflowClient:
        return AirflowClient("http://127.0.0.1:1", "secret", wire=httpx.MockTransport(self))


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "RETRY_PAUSE_S", 0.0)


def ok(body: Any) -> httpx.Response:
    return httpx.Response(200, json=body)


def test_a_token_is_fetched_once_and_again_when_it_has_expired() -> None:
    wire = Wire(ok(RUN), httpx.Response(401), ok(RUN))
    client = wire.client()
    client.dag_run("demo", "r1")
    client.dag_run("demo", "r1")
    used = [request.headers["Authorization"] for request in wire.asked]
    assert used == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]


def test_a_server_fault_is_asked_again_and_given_up_in_the_end() -> None:
    patient = Wire(httpx.Response(503), httpx.ReadTimeout("slow"), ok(RUN))
    assert patient.client().dag_run("demo", "r1") == DagRun("demo", "r1", "queued", NOON, {"a": 1})
    hopeless = Wire(httpx.Response(503, text="no database"))
    with pytest.raises(ApiError, match="no database") as raised:
        hopeless.client().dag_run("demo", "r1")
    assert raised.value.status == 503
    assert len(hopeless.asked) == api.ATTEMPTS


def test_a_refusal_is_not_asked_again() -> None:
    wire = Wire(httpx.Response(400, text="bad Param"))
    with pytest.raises(ApiError, match="bad Param"):
        wire.client().trigger("demo", {}, run_id="r1")
    assert len(wire.asked) == 1


def test_a_trigger_that_may_have_arrived_is_repeated_only_under_a_run_id() -> None:
    anonymous = Wire(httpx.ReadTimeout("lost"))
    with pytest.raises(ApiError, match="lost"):
        anonymous.client().trigger("demo", {})
    assert len(anonymous.asked) == 1
    named = Wire(httpx.ReadTimeout("lost"), httpx.Response(409), ok(RUN))
    assert named.client().trigger("demo", {"a": 1}, run_id="r1").run_id == "r1"
    assert [request.method for request in named.asked] == ["POST", "POST", "GET"]
    assert json.loads(named.asked[0].content) == {"logical_date": None, "conf": {"a": 1}, "dag_run_id": "r1"}


def test_what_is_not_there_is_none() -> None:
    client = Wire(httpx.Response(404)).client()
    assert client.dag("demo") is None
    assert client.pool("clusters") is None


def test_a_pool_that_exists_is_changed_one_that_does_not_is_made() -> None:
    exists = Wire(ok({"name": "clusters", "slots": 1, "include_deferred": True}))
    exists.client().set_pool("clusters", 4, "at once")
    assert [request.method for request in exists.asked] == ["GET", "PATCH"]
    missing = Wire(httpx.Response(404), httpx.Response(201, json={}))
    missing.client().set_pool("clusters", 4, "at once")
    assert json.loads(missing.asked[-1].content) == {
        "name": "clusters",
        "slots": 4,
        "description": "at once",
        "include_deferred": True,
    }


def test_all_pages_of_task_instances_are_read() -> None:
    times = {"start_date": NOON.isoformat(), "end_date": None}
    items = [{"task_id": "run_cell", "map_index": n, "state": "failed", "try_number": 1, **times} for n in range(3)]
    pages = [{"task_instances": page, "total_entries": 3} for page in (items[:2], items[2:])]
    wire = Wire(*(ok(page) for page in pages))
    found = wire.client().task_instances("demo", "a run/with: odd + characters")
    assert [task.name for task in found] == ["run_cell[0]", "run_cell[1]", "run_cell[2]"]
    assert wire.asked[1].url.params["offset"] == "2"
    assert b"a%20run%2Fwith%3A%20odd%20%2B%20characters" in wire.asked[0].url.raw_path


def test_the_errors_in_a_log_are_told_by_their_exceptions() -> None:
    log = [
        "a plain line",
        {"event": "started", "level": "info"},
        {"event": "no disk", "level": "error"},
        {"event": "Task failed", "level": "error", "error_detail": [{"exc_value": "wrong"}, {"exc_value": "root"}]},
    ]
    run = DagRun("demo", "r1", "failed", NOON, {})
    client = Wire(ok({"task_instances": [_task()], "total_entries": 1}), ok({"content": log})).client()
    (task,) = client.task_instances("demo", "r1")
    assert client.task_errors(run, task) == ["no disk", "wrong", "root"]


def test_only_signs_of_life_after_the_start_count_as_healthy() -> None:
    early, late = "2026-01-31T11:59:59+00:00", "2026-01-31T12:00:01+00:00"
    body = {
        "metadatabase": {"status": "healthy"},
        "scheduler": {"status": "healthy", "latest_scheduler_heartbeat": late},
        "dag_processor": {"status": "healthy", "latest_dag_processor_heartbeat": early},
        "triggerer": {"status": None, "latest_triggerer_heartbeat": None},
    }
    assert Wire(ok(body)).client().health().missing(NOON) == ["dag_processor", "triggerer"]


def _task() -> dict[str, Any]:
    return {"task_id": "t", "map_index": -1, "state": "failed", "try_number": 2, "start_date": None, "end_date": None}
