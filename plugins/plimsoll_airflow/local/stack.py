"""The whole stack: up, down, status. It starts cleanly whatever state a crash left it in.

`airflow standalone` leaves its processes running when it is killed, as supervisord does, offers its logs on every
address of the machine, and starts no PostgreSQL.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Protocol

from plimsoll_airflow.local import database, processes, readiness, record, shutdown
from plimsoll_airflow.local.client import HEALTH_PARTS, AirflowClient
from plimsoll_airflow.local.guard import Guard
from plimsoll_airflow.local.home import ApiError, Home, StackError, administrator, reserved
from plimsoll_airflow.local.process_environment import StackSettings, stack_environment
from plimsoll_airflow.local.record import Record
from plimsoll_airflow.local.transport import OwnServers, Transport
from plimsoll_airflow.runs.ownership import CLUSTERS_POOL, INSTALLATION_ENVIRONMENT

MIGRATE_TIMEOUT_S = 180.0


class DestroysClusters(Protocol):
    """A function such as `shutdown.destroy_clusters`."""

    def __call__(self, environment: Mapping[str, str], /, *, others: bool = False) -> Sequence[str]:
        """Destroy clusters, with `others` also those on which others work. Returns those that are left alone."""


@dataclass
class Stack:
    """One Airflow in one home. Callers hold `launcher_lock` while they change anything.

    `log` receives a line on each event. `shield` makes a block that no interruption breaks into. `destroy_clusters`
    ends the clusters of campaigns, given the processes' environment, and names those that it leaves alone. `in_haste`
    turns true when the user has asked twice to stop.
    """

    home: Home
    settings: StackSettings
    log: Callable[[str], None] = print
    shield: Callable[[], AbstractContextManager[None]] = nullcontext
    destroy_clusters: DestroysClusters = field(default=lambda _environment, *, others=False: ())  # noqa: ARG005
    in_haste: Callable[[], bool] = field(default=lambda: False)
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
            with self.shield():
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
        with self.shield():
            shutdown.stop_stack(self.home, lambda: self._end_clusters(others=others), in_haste=self.in_haste)
            self._dismiss_guard()

    def down_unless_kept(self) -> None:
        """Stop a stack that was started for this launcher alone, if it still runs."""
        noted = record.read(self.home)
        if noted is not None and not noted.kept:
            self.down()

    def running(self) -> Record | None:
        """Return the kept stack if it is up and healthy, else None."""
        noted = record.read(self.home)
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
        return AirflowClient(Transport(running.url, self.home.password_of(user), user=user, wire=OwnServers()))

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
        with self.shield():
            database.start(self.home)
        database.migrate(self.home, version("apache-airflow"), lambda: self._migrate(environment))
        if closed := database.close_unfinished_runs(self.home):
            self.log(f"closed {closed} DAG runs that an earlier stop or crash had left unfinished")

    def _end_clusters(self, *, others: bool) -> None:
        if kept := self.destroy_clusters(self.environment(port=0), others=others):
            self.log(f"left alone, because somebody works on it: {', '.join(kept)} (see `plimsoll clusters list`)")

    def _dismiss_guard(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.dismiss()

    def _joined(self, running: Record) -> Record:
        if running.told != record.digest(self.environment(running.port)):
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
            started = Record(port, kept=False, told=record.digest(environment))
            started.write(self.home)
            self.start_database(environment)
            with self.shield():
                components = {
                    name: processes.start(name, processes.airflow_command(arguments), self.home, environment)
                    for name, arguments in processes.AIRFLOW_COMPONENTS.items()
                }
            with self.client(started) as client:
                readiness.await_ready(client, self.home, components, dag_ids, since)
                if self.settings.clusters is not None or client.pool(CLUSTERS_POOL) is None:
                    client.set_pool(CLUSTERS_POOL, self.settings.clusters or 1, "How many clusters may live at once")
        if kept:
            started = replace(started, kept=True)
            started.write(self.home)
            self._dismiss_guard()
        return started

    def _migrate(self, environment: Mapping[str, str]) -> None:
        self.log("setting up the metadata database (once)")
        with self.shield():
            command = processes.airflow_command(["db", "migrate"])
            migration = processes.start("migration", command, self.home, environment)
        if processes.wait_gone([migration], MIGRATE_TIMEOUT_S) or migration.wait(0):
            log = self.home.log("migration")
            raise StackError(f"`airflow db migrate` failed:\n{processes.log_tail(log)}", where=str(log))
