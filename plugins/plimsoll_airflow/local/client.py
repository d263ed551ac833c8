"""A thin, typed client of Airflow's REST API, for the launcher and the tests: calls with a token, a timeout, bounded
retries, and errors that contain the request.

`apache-airflow-client` takes 1.1 CPU s to import and this with all that it needs 0.3; and it would have to be told to
send a password only to a server of one's own user.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BeforeValidator, Field, TypeAdapter

from plimsoll_airflow.local.home import ApiError

ATTEMPTS = 4
RETRY_PAUSE_S = 0.5
TIMEOUT_S = 30.0
UNREACHED = 0
"""Stands for an HTTP status: the server was not reached, so that nothing can have happened."""
WARM_UP_TIMEOUT_S = 60.0
HEALTH_PARTS = ("metadatabase", "scheduler", "dag_processor", "triggerer")

_T = TypeVar("_T")


@dataclass(frozen=True)
class Health:
    """The status of each part ("healthy", "unhealthy", "missing") and the time of its last heartbeat."""

    status: Mapping[str, str]
    heartbeat: Mapping[str, datetime]

    def missing(self, since: datetime) -> list[str]:
        """Return parts that are not healthy, or whose last heartbeat is older than `since` so from a dead process."""
        # Airflow's answer has no heartbeat of the database, only its status
        beating = {"metadatabase", *(part for part, at in self.heartbeat.items() if at >= since)}
        return [part for part in HEALTH_PARTS if self.status[part] != "healthy" or part not in beating]


@dataclass(frozen=True)
class Dag:
    """A parsed DAG; `parsed_at` is when its file was last read."""

    dag_id: str
    is_paused: bool
    parsed_at: Annotated[datetime | None, Field(validation_alias="last_parsed_time")]


@dataclass(frozen=True)
class DagRun:
    """A DAG run and its state: queued, running, success or failed. `run_after` is when it was due, or triggered."""

    dag_id: str
    run_id: Annotated[str, Field(validation_alias="dag_run_id")]
    state: str
    run_after: datetime
    conf: Annotated[Mapping[str, Any], BeforeValidator(lambda conf: conf or {})]

    @property
    def is_final(self) -> bool:
        return self.state in ("success", "failed")


@dataclass(frozen=True)
class TaskInstance:
    """One task of a run. `state` is None before it is scheduled; `map_index` is -1 when it is not mapped."""

    task_id: str
    map_index: int
    state: str | None
    try_number: int
    ended_at: Annotated[datetime | None, Field(validation_alias="end_date")]

    @property
    def name(self) -> str:
        """Return task and map index: `run_cell[3]`."""
        return self.task_id if self.map_index < 0 else f"{self.task_id}[{self.map_index}]"


@dataclass(frozen=True)
class Pool:
    """The number of tasks that may run at once, and whether deferred tasks count."""

    name: str
    slots: int
    include_deferred: bool


class AirflowClient:
    """The access of one user to one api-server. It gets a token on first use, and a new one when it has expired.

    Every method raises ApiError when the server refuses or does not answer.
    """

    def __init__(
        self, base_url: str, password: str, *, user: str = "admin", wire: httpx.BaseTransport | None = None
    ) -> None:
        self.base_url = base_url
        self._credentials = {"username": user, "password": password}
        self._token = ""
        # Loopback only: never through a proxy that the environment names.
        self._http = httpx.Client(base_url=base_url, timeout=TIMEOUT_S, trust_env=False, transport=wire)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def health(self) -> Health:
        """Return the health of the four parts. Needs no credentials."""
        body = self.send("GET", "/api/v2/monitor/health").json()
        beats = {part: body.get(part, {}).get(f"latest_{part}_heartbeat") for part in HEALTH_PARTS}
        return Health(
            status={part: body.get(part, {}).get("status") or "missing" for part in HEALTH_PARTS},
            heartbeat={part: datetime.fromisoformat(beat) for part, beat in beats.items() if beat},
        )

    def warm_up(self) -> None:
        """Make the api-server build the tasks' API, and wait for it.

        Airflow does that on the first request, which takes five CPU seconds: else the first task would wait for it.
        """
        self.send("GET", "/execution/health", timeout=WARM_UP_TIMEOUT_S)

    def dag(self, dag_id: str) -> Dag | None:
        """Return the DAG; None while it is not parsed."""
        return self._find(Dag, f"/dags/{_quoted(dag_id)}")

    def import_errors(self, since: datetime) -> dict[str, str]:
        """Return DAG files that could not be parsed since that time, each with its traceback."""
        errors = self.call("GET", "/importErrors")["import_errors"]
        fresh = [error for error in errors if datetime.fromisoformat(error["timestamp"]) >= since]
        return {error["filename"]: error["stack_trace"] for error in fresh}

    def unpause(self, dag_id: str) -> None:
        self.call("PATCH", f"/dags/{_quoted(dag_id)}", json={"is_paused": False})

    def trigger(self, dag_id: str, conf: Mapping[str, Any], *, run_id: str | None = None) -> DagRun:
        """Start a run. With a `run_id` this is idempotent: an existing run is returned unchanged."""
        # The API refuses a body without `logical_date`, although it may be null
        body = {"logical_date": None, "conf": dict(conf), **({"dag_run_id": run_id} if run_id else {})}
        try:
            path = f"/dags/{_quoted(dag_id)}/dagRuns"
            return _read(DagRun, self.call("POST", path, json=body, is_repeatable=run_id is not None))
        except ApiError as error:
            if run_id and error.status == HTTPStatus.CONFLICT:
                return self.dag_run(dag_id, run_id)
            raise

    def dag_run(self, dag_id: str, run_id: str) -> DagRun:
        return _read(DagRun, self.call("GET", _run_path(dag_id, run_id)))

    def dag_runs(self, dag_id: str, *, state: str | None = None) -> list[DagRun]:
        """Return the 100 newest runs of a DAG, newest first; only those in that state if one is given."""
        query = {"limit": 100, "order_by": "-run_after"} | ({"state": state} if state else {})
        body = self.call("GET", f"/dags/{_quoted(dag_id)}/dagRuns", params=query)
        return _read(list[DagRun], body["dag_runs"])

    def task_instances(self, dag_id: str, run_id: str) -> list[TaskInstance]:
        """Return the task instances of a run, all pages of them."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances"
        tasks: list[TaskInstance] = []
        while True:
            body = self.call("GET", path, params={"limit": 100, "offset": len(tasks)})
            tasks += _read(list[TaskInstance], body["task_instances"])
            if len(tasks) >= body["total_entries"] or not body["task_instances"]:
                return tasks

    def task_errors(self, run: DagRun, task: TaskInstance) -> list[str]:
        """Return the error messages in the log of a task's newest try, oldest first."""
        path = f"{_run_path(run.dag_id, run.run_id)}/taskInstances/{_quoted(task.task_id)}/logs/{task.try_number}"
        entries = self.call("GET", path, params={"map_index": task.map_index})["content"]
        return [text for entry in entries if isinstance(entry, dict) for text in _errors(entry)]

    def set_pool(self, name: str, slots: int, description: str) -> None:
        """Create a pool in which deferred tasks count, or set the number of slots of an existing one."""
        # The API calls the name `pool` where a pool is changed, and `name` where it is made
        pool = {"slots": slots, "description": description, "include_deferred": True}
        if self.pool(name):
            self.call("PATCH", f"/pools/{_quoted(name)}", json={"pool": name, **pool})
        else:
            self.call("POST", "/pools", json={"name": name, **pool})

    def pool(self, name: str) -> Pool | None:
        return self._find(Pool, f"/pools/{_quoted(name)}")

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request once, without a token. Raises ApiError unless the answer is a success."""
        return self._checked(self._exchange(method, path, **options))

    def call(self, method: str, path: str, *, is_repeatable: bool = False, **options: Any) -> Any:
        """Call `/api/v2` with a token, and return the answer's JSON.

        A request that did not reach the server is retried. One that was lost on the way is retried only if repeating it
        does no harm.
        """
        may_repeat = is_repeatable or method in {"GET", "PATCH"}
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._authorised(method, path, **options)
            except ApiError as error:
                is_server_fault = error.status is None or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
                if attempt == ATTEMPTS or not (error.status == UNREACHED or (is_server_fault and may_repeat)):
                    raise
                time.sleep(RETRY_PAUSE_S * attempt)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _find(self, kind: type[_T], path: str) -> _T | None:
        try:
            return _read(kind, self.call("GET", path))
        except ApiError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    def _authorised(self, method: str, path: str, **options: Any) -> Any:
        for fresh in (False, True):
            if fresh or not self._token:
                token: str = self.send("POST", "/auth/token", json=self._credentials).json()["access_token"]
                self._token = token
            headers = {"Authorization": f"Bearer {self._token}"}
            response = self._exchange(method, f"/api/v2{path}", headers=headers, **options)
            if response.status_code != HTTPStatus.UNAUTHORIZED or fresh:
                break
        return self._checked(response).json()

    def _exchange(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **options)
        except httpx.ConnectError as error:
            raise ApiError(f"nothing answers: {error}", where=self.base_url + path, status=UNREACHED) from error
        except httpx.HTTPError as error:
            raise ApiError(f"no answer: {type(error).__name__} {error}", where=self.base_url + path) from error

    def _checked(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        raise ApiError(
            f"HTTP {response.status_code}: {response.text[:500]}",
            where=f"{response.request.method} {response.request.url}",
            status=response.status_code,
        )


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _errors(entry: Mapping[str, Any]) -> list[str]:
    """Return the messages of the exceptions in a log entry, else the entry's own message if it is an error."""
    if entry.get("level") not in {"error", "critical"}:
        return []
    return [str(error["exc_value"]) for error in entry.get("error_detail") or ()] or [str(entry["event"])]


def _run_path(dag_id: str, run_id: str) -> str:
    return f"/dags/{_quoted(dag_id)}/dagRuns/{_quoted(run_id)}"


def _read(kind: type[_T], body: Any) -> _T:
    return TypeAdapter(kind).validate_python(body)
