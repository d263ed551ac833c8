"""Wait until a started stack can be used, or say precisely why it can't."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import psutil

from plimsoll_airflow.local.client import AirflowClient
from plimsoll_airflow.local.home import ApiError, Home, StackError
from plimsoll_airflow.local.processes import is_alive, log_tail

READY_TIMEOUT_S = 180.0
POLL_S = 0.2


def await_ready(
    client: AirflowClient, home: Home, components: Mapping[str, psutil.Process], dag_ids: Sequence[str], since: datetime
) -> None:
    """Return when all four parts are healthy and the DAGs are parsed. Only heartbeats after `since` count.

    Raises StackError with what is missing and the last log lines: at once when a process has ended or a DAG file can't
    be parsed, else after READY_TIMEOUT_S.
    """
    deadline = time.monotonic() + READY_TIMEOUT_S
    unparsed = list(dag_ids)

    def await_none(missing: Callable[[], list[str]]) -> None:
        while waiting_for := missing():
            _refuse_ended(home, components)
            if time.monotonic() > deadline:
                raise _not_ready(home, components, waiting_for)
            time.sleep(POLL_S)

    await_none(lambda: _unanswered(client.health))
    # On a busy machine the tasks' API takes longer to build than one request waits, so it is asked again
    await_none(lambda: _unanswered(client.warm_up))
    await_none(lambda: _missing(client, unparsed, since))


def _unanswered(request: Callable[[], object]) -> list[str]:
    try:
        request()
    except ApiError as error:
        return [f"api-server: {error.what}"]
    return []


def _missing(client: AirflowClient, unparsed: list[str], since: datetime) -> list[str]:
    """Name what is not there yet. Takes the DAGs that are parsed off `unparsed`, up to the first that is not.

    A look asks for one DAG that is missing, not for all: answers take processor time from the processes that are to
    come up.
    """
    if unhealthy := client.health().missing(since):
        return [f"{part}: no sign of life yet" for part in unhealthy]
    while unparsed and (dag := client.dag(unparsed[0])) and dag.parsed_at and dag.parsed_at >= since:
        del unparsed[0]
    if unparsed:
        for file, trace in client.import_errors(since).items():
            what = f"a DAG file can't be parsed while waiting for {', '.join(unparsed)}:\n{trace}"
            raise StackError(what, where=file)
    return [f"DAG {dag_id}: not parsed yet" for dag_id in unparsed[:1]]


def _refuse_ended(home: Home, components: Mapping[str, psutil.Process]) -> None:
    for name, process in components.items():
        if not is_alive(process):
            log = home.log(name)
            raise StackError(f"{name} has ended:\n{log_tail(log)}", where=str(log))


def _not_ready(home: Home, components: Iterable[str], waiting_for: Sequence[str]) -> StackError:
    tails = "\n".join(f"--- {name}\n{log_tail(home.log(name), 5)}" for name in components)
    what = f"Airflow is not ready after {READY_TIMEOUT_S:.0f} s: {'; '.join(waiting_for)}\n{tails}"
    return StackError(what, where=str(home.run))
