"""The whole stack: up, down, status. It starts cleanly whatever state a crash left it in, or says precisely why it
can't be used.

`airflow standalone` leaves its processes running when it is killed, as supervisord does, offers its logs on every
address of the machine, and starts no PostgreSQL.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version

import httpx
import psutil

from plimsoll_airflow.local import database, processes, shutdown
from plimsoll_airflow.local.client import HEALTH_PARTS, AirflowClient
from plimsoll_airflow.local.guard import Guard
from plimsoll_airflow.local.home import ApiError, Home, StackError, administrator, is_ours, reserved
from plimsoll_airflow.local.launcher import Interrupts, Record, read_record, settings_digest
from plimsoll_airflow.local.process_environment import StackSettings, stack_environment
from plimsoll_airflow.runs.ownership import CLUSTERS_POOL, INSTALLATION_ENVIRONMENT

MIGRATE_TIMEOUT_S = 180.0
READY_TIMEOUT_S = 180.0
POLL_S = 0.2


@dataclass
class Stack:
    """One Airflow in one home. Callers hold `launcher_lock` while they change anything.

    `log` receives a line on each event. `interrupts` are those of its launcher, and break into no block that starts a
    process. `destroy_clusters` ends the clusters of campaigns, given the processes' environment and whether also those
    on which others work, and names those that it leaves alone.
    """

    home: Home
    settings: StackSettings
    log: Callable[[str], None] = print
    interrupts: Interrupts = field(default_factory=Interrupts)
    destroy_clusters: Callable[[Mapping[str, str], bool], Sequence[str]] = lambda _environment, _others: ()
    _guard: Guard | None = field(default=None, init=False)

    def up(self, dag_ids: Sequence[str] = (), *, kept: bool) -> Record:
        """Start everything and return when it is healthy and the DAGs are parsed. A running kept stack is used.

        Raises StackError with status and the last log lines; then nothing is left running, as when this process dies. A
        stack that is not kept always ends with this process.
        """
        self.home.create()
        if running := self.running():
            return self._joined(running)
        try:
            self.down()
            with self.interrupts.shielded():
                # It needs no port: whoever ends a stack asks no api-server
                self._guard = Guard.start(self.home, self.environment(port=0))
            return self._start(dag_ids, kept=kept)
        except BaseException:  # A signal's Interrupted is no Exception
            self.down()
            raise

    def down(self, *, others: bool = False) -> None:
        """Stop everything of this home in bounded time, including its clusters. Nothing running is no error.

        Clusters of this machine on which others work are left alone and named, unless `others` are to end, too.
        """
        with self.interrupts.shielded():
            shutdown.stop_stack(self.home, lambda: self._end_clusters(others=others), in_haste=self.interrupts.in_haste)
            self._dismiss_guard()

    def down_unless_kept(self) -> None:
        """Stop a stack that was started for this launcher alone, if it still runs."""
        noted = read_record(self.home)
        if noted is not None and not noted.kept:
            self.down()

    def running(self) -> Record | None:
        """Return the kept stack if it is up and healthy, else None."""
        noted = read_record(self.home)
        if noted is None or not noted.kept or self.unhealthy(noted):
            return None
        return noted

    def unhealthy(self, running: Record) -> list[str]:
        """Return the parts of a running stack without a recent heartbeat."""
        alive = {member.component for member in processes.members(self.home) if member.is_top}
        dead = [name for name in ("postgres", *processes.AIRFLOW_COMPONENTS) if name not in alive]
        if dead:
            return dead
        with self.client(running) as client:
            try:
                status = client.health().status
            except ApiError as error:
                return [f"api-server ({error.what})"]
        return [part for part in HEALTH_PARTS if status[part] != "healthy"]

    def client(self, running: Record) -> AirflowClient:
        user = administrator(self.settings.users).name
        return AirflowClient(running.url, self.home.password_of(user), user=user, wire=OwnServers())

    def how_to_open(self, running: Record) -> str:
        users = ", ".join(
            user.name if user.name == user.role else f"{user.name} ({user.role})" for user in self.settings.users
        )
        start = "Airflow is up" if running.kept else "To see it in Airflow: `make up`, then"
        return f"{start}: {running.url}, user {users}, password in {self.home.passwords}"

    def environment(self, port: int) -> dict[str, str]:
        own = {INSTALLATION_ENVIRONMENT: self.home.installation}
        return own | stack_environment(self.home, self.home.secrets, port, self.settings, os.environ)

    def start_database(self, environment: Mapping[str, str]) -> None:
        """Start the database alone, migrated to this Airflow's version and without runs that nothing works on."""
        with self.interrupts.shielded():
            database.start(self.home)
        database.migrate(self.home, version("apache-airflow"), lambda: self._migrate(environment))
        if closed := database.close_unfinished_runs(self.home):
            self.log(f"closed {closed} DAG runs that an earlier stop or crash had left unfinished")

    def _end_clusters(self, *, others: bool) -> None:
        if kept := self.destroy_clusters(self.environment(port=0), others):
            self.log(f"left alone, because somebody works on it: {', '.join(kept)} (see `plimsoll clusters list`)")

    def _dismiss_guard(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.dismiss()

    def _joined(self, running: Record) -> Record:
        if running.told != settings_digest(self.environment(running.port)):
            raise StackError(
                "Airflow is up with other settings (store, work, cache, campaigns or users)",
                where=running.url,
                mend="stop it first with `make down`, or unset the PLIMSOLL_… variables that differ",
            )
        return running

    def _start(self, dag_ids: Sequence[str], *, kept: bool) -> Record:
        since = datetime.now(UTC)
        # Before Airflow starts, which would print the passwords that it has to make into a log
        for user in self.settings.users:
            self.home.password_of(user.name)
        with reserved(self.settings.port) as port:  # its server comes up many seconds later
            environment = self.environment(port)
            started = Record(port, kept=False, told=settings_digest(environment))
            started.write(self.home)
            self.start_database(environment)
            with self.interrupts.shielded():
                components = {
                    name: processes.start(name, processes.airflow_command(arguments), self.home, environment)
                    for name, arguments in processes.AIRFLOW_COMPONENTS.items()
                }
            with self.client(started) as client:
                await_ready(client, self.home, components, dag_ids, since)
                if self.settings.clusters is not None or client.pool(CLUSTERS_POOL) is None:
                    client.set_pool(CLUSTERS_POOL, self.settings.clusters or 1, "How many clusters may live at once")
        if kept:
            started = replace(started, kept=True)
            started.write(self.home)
            self._dismiss_guard()
        return started

    def _migrate(self, environment: Mapping[str, str]) -> None:
        self.log("setting up the metadata database (once)")
        with self.interrupts.shielded():
            command = processes.airflow_command(["db", "migrate"])
            migration = processes.start("migration", command, self.home, environment)
        if processes.wait_gone([migration], MIGRATE_TIMEOUT_S) or migration.wait(0):
            log = self.home.log("migration")
            raise StackError(f"`airflow db migrate` failed:\n{processes.log_tail(log)}", where=str(log))


class OwnServers(httpx.HTTPTransport):
    """An adapter of requests to servers of this user on the loopback address, and to nobody else's.

    Another user's program could listen on the port before the api-server does, and would be sent a password.
    """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request. Raises ConnectError where no program of this user listens."""
        if request.url.port is None or not is_ours(request.url.port):
            raise httpx.ConnectError(f"no program of this user listens on port {request.url.port}", request=request)
        return super().handle_request(request)


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
        if not processes.is_alive(process):
            log = home.log(name)
            raise StackError(f"{name} has ended:\n{processes.log_tail(log)}", where=str(log))


def _not_ready(home: Home, components: Iterable[str], waiting_for: Sequence[str]) -> StackError:
    tails = "\n".join(f"--- {name}\n{processes.log_tail(home.log(name), 5)}" for name in components)
    what = f"Airflow is not ready after {READY_TIMEOUT_S:.0f} s: {'; '.join(waiting_for)}\n{tails}"
    return StackError(what, where=str(home.run))
