"""A thin client of Airflow's REST API: what the launcher and the tests ask for, typed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Literal, Self
from urllib.parse import quote

from plimsoll_airflow.local.errors import ApiError
from plimsoll_airflow.local.transport import Transport

WARM_UP_TIMEOUT_S = 60.0
HEALTH_PARTS = ("metadatabase", "scheduler", "dag_processor", "triggerer")
FINAL_STATES = frozenset({"success", "failed"})


@dataclass(frozen=True)
class Health:
    """Status by part ("healthy", "unhealthy", "missing") and when each last gave a sign of life."""

    status: Mapping[str, str]
    heartbeat: Mapping[str, datetime]

    def missing(self, since: datetime) -> list[str]:
        """Parts that are not healthy, or whose last sign of life is older than `since`: a dead process' heartbeat."""
        return [part for part in HEALTH_PARTS if self.status[part] != "healthy" or self._is_stale(part, since)]

    def _is_stale(self, part: str, since: datetime) -> bool:
        return part != "metadatabase" and (part not in self.heartbeat or self.heartbeat[part] < since)


@dataclass(frozen=True)
class Dag:
    """A parsed DAG; `parsed_at` is when its file was last read."""

    dag_id: str
    is_paused: bool
    parsed_at: datetime | None


@dataclass(frozen=True)
class DagRun:
    """A DAG run and its state: queued, running, success or failed. `run_after` is when it was due, or triggered."""

    dag_id: str
    run_id: str
    state: str
    run_after: datetime
    conf: Mapping[str, Any]

    @property
    def is_final(self) -> bool:
        """Whether it has ended."""
        return self.state in FINAL_STATES


@dataclass(frozen=True)
class TaskInstance:
    """One task of a run; `state` is None while nothing has happened to it, `map_index` -1 when it isn't mapped."""

    task_id: str
    map_index: int
    state: str | None
    try_number: int
    started_at: datetime | None
    ended_at: datetime | None

    @property
    def name(self) -> str:
        """Task and map index as people write them: `run_cell[3]`."""
        return self.task_id if self.map_index < 0 else f"{self.task_id}[{self.map_index}]"


@dataclass(frozen=True)
class Pool:
    """How many tasks may run at once; whether deferred ones count."""

    name: str
    slots: int
    include_deferred: bool


class AirflowClient:
    """What the launcher asks of one api-server. Every method raises ApiError when it refuses or does not answer."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._transport.close()

    def health(self) -> Health:
        """Health of the four parts; asked without credentials."""
        body = self._transport.send("GET", "/api/v2/monitor/health").json()
        beats = {part: body.get(part, {}).get(f"latest_{part}_heartbeat") for part in HEALTH_PARTS}
        return Health(
            status={part: body.get(part, {}).get("status") or "missing" for part in HEALTH_PARTS},
            heartbeat={part: datetime.fromisoformat(beat) for part, beat in beats.items() if beat},
        )

    def warm_up(self) -> None:
        """Have the api-server build the tasks' API, and wait for it.

        Airflow does that on the first request, and it takes five CPU seconds: the first task would wait for it.
        """
        self._transport.send("GET", "/execution/health", timeout=WARM_UP_TIMEOUT_S)

    def dag(self, dag_id: str) -> Dag | None:
        """The DAG, or None while it isn't parsed."""
        try:
            body = self._transport.call("GET", f"/dags/{_part(dag_id)}")
        except ApiError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        return Dag(body["dag_id"], body["is_paused"], _time(body["last_parsed_time"]))

    def import_errors(self, since: datetime) -> dict[str, str]:
        """DAG files that could not be parsed since then, each with its traceback."""
        errors = self._transport.call("GET", "/importErrors")["import_errors"]
        fresh = [error for error in errors if datetime.fromisoformat(error["timestamp"]) >= since]
        return {error["filename"]: error["stack_trace"] for error in fresh}

    def unpause(self, dag_id: str) -> None:
        """Let runs of the DAG start."""
        self._transport.call("PATCH", f"/dags/{_part(dag_id)}", json={"is_paused": False})

    def trigger(self, dag_id: str, conf: Mapping[str, Any], *, run_id: str | None = None) -> DagRun:
        """Start a run. With a `run_id` this is idempotent: a run that is already there is returned as it is."""
        body = {"logical_date": None, "conf": dict(conf), **({"dag_run_id": run_id} if run_id else {})}
        try:
            path = f"/dags/{_part(dag_id)}/dagRuns"
            return _dag_run(self._transport.call("POST", path, json=body, is_repeatable=run_id is not None))
        except ApiError as error:
            if run_id and error.status == HTTPStatus.CONFLICT:
                return self.dag_run(dag_id, run_id)
            raise

    def dag_run(self, dag_id: str, run_id: str) -> DagRun:
        """One run as it is now."""
        return _dag_run(self._transport.call("GET", _run_path(dag_id, run_id)))

    def dag_runs(self, dag_id: str, *, limit: int = 100, state: str | None = None) -> list[DagRun]:
        """Runs of a DAG, newest first; only those in that state if one is given."""
        query = {"limit": limit, "order_by": "-run_after"} | ({"state": state} if state else {})
        body = self._transport.call("GET", f"/dags/{_part(dag_id)}/dagRuns", params=query)
        return [_dag_run(run) for run in body["dag_runs"]]

    def set_run_state(self, dag_id: str, run_id: str, state: Literal["queued", "success", "failed"]) -> None:
        """Mark a run as ended (Airflow ends its tasks, teardowns excepted), or have it start over."""
        self._transport.call("PATCH", _run_path(dag_id, run_id), json={"state": state})

    def task_instances(self, dag_id: str, run_id: str) -> list[TaskInstance]:
        """The task instances of a run, all pages of them."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances"
        found: list[TaskInstance] = []
        while True:
            body = self._transport.call("GET", path, params={"limit": 100, "offset": len(found)})
            found += [_task_instance(item) for item in body["task_instances"]]
            if len(found) >= body["total_entries"] or not body["task_instances"]:
                return found

    def task_errors(self, run: DagRun, task: TaskInstance) -> list[str]:
        """What the log of a task's newest try says of errors: their messages, oldest first."""
        path = f"{_run_path(run.dag_id, run.run_id)}/taskInstances/{_part(task.task_id)}/logs/{task.try_number}"
        entries = self._transport.call("GET", path, params={"map_index": task.map_index})["content"]
        return [text for entry in entries if isinstance(entry, dict) for text in _errors(entry)]

    def set_pool(self, name: str, slots: int, description: str, *, include_deferred: bool = True) -> None:
        """Make a pool, or give an existing one this many slots."""
        pool = {"slots": slots, "description": description, "include_deferred": include_deferred}
        if self.pool(name):
            self._transport.call("PATCH", f"/pools/{_part(name)}", json={"pool": name, **pool})
        else:
            self._transport.call("POST", "/pools", json={"name": name, **pool})

    def pool(self, name: str) -> Pool | None:
        """The pool of this name, or None."""
        try:
            body = self._transport.call("GET", f"/pools/{_part(name)}")
        except ApiError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        return Pool(body["name"], body["slots"], body["include_deferred"])


def _part(text: str) -> str:
    return quote(text, safe="")


def _errors(entry: Mapping[str, Any]) -> list[str]:
    """The messages of the exceptions that a log entry carries; else its own, if it is an error."""
    if entry.get("level") not in {"error", "critical"}:
        return []
    return [str(error["exc_value"]) for error in entry.get("error_detail") or ()] or [str(entry["event"])]


def _run_path(dag_id: str, run_id: str) -> str:
    return f"/dags/{_part(dag_id)}/dagRuns/{_part(run_id)}"


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _dag_run(body: Mapping[str, Any]) -> DagRun:
    return DagRun(
        dag_id=body["dag_id"],
        run_id=body["dag_run_id"],
        state=body["state"],
        run_after=datetime.fromisoformat(body["run_after"]),
        conf=body.get("conf") or {},
    )


def _task_instance(body: Mapping[str, Any]) -> TaskInstance:
    return TaskInstance(
        task_id=body["task_id"],
        map_index=body["map_index"],
        state=body["state"],
        try_number=body["try_number"],
        started_at=_time(body["start_date"]),
        ended_at=_time(body["end_date"]),
    )
