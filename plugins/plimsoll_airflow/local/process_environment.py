"""The environment variables of the stack's processes, as a pure function of home, port and settings."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from plimsoll.domain.keys.definition_keys import MAX_CELLS
from plimsoll_airflow.local.home import ADMIN, LOOPBACK, Home, LocalUser, Secrets

HOME_TAG = "PLIMSOLL_HOME"
"""Set to the Airflow home in every process of a stack: how they are found again after any crash."""

COMPONENT = "PLIMSOLL_COMPONENT"
"""Which part of the stack a process is, or was started by."""

DATABASE_USER = "airflow"
FOREIGN = ("AIRFLOW_", "AIRFLOW__", "_AIRFLOW_", "PG")
"""Settings of another Airflow or PostgreSQL in the caller's shell: they must not leak into the stack."""


@dataclass(frozen=True)
class StackSettings:
    """The settings of a stack: DAGs, store. Folders are absolute, `store` is an fsspec URL."""

    dags: Path
    store: str
    cache: Path
    work: Path
    campaigns: Path
    clusters: int | None = None
    """Slots of the pool `clusters`; None leaves an existing pool alone and makes a new one with one slot."""
    port: int | None = 8080
    """Preferred port of the api-server; another one is taken when it is in use."""
    users: tuple[LocalUser, ...] = (ADMIN,)
    """The users who may log in; at least one of them is an admin."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """More environment for the processes; wins over everything here."""


def stack_environment(
    home: Home, secrets: Secrets, port: int, settings: StackSettings, caller: Mapping[str, str]
) -> dict[str, str]:
    """Return the whole environment of the stack's processes: the caller's, without variables of another Airflow."""
    kept = {key: value for key, value in caller.items() if not key.startswith(FOREIGN)}
    users = ",".join(map(str, settings.users))
    environment = {
        **kept,
        # Python's setproctitle writes titles over the environment unless told otherwise, and the tag is in there.
        "SPT_NOENV": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": kept.get("PYTHONWARNINGS", WARNINGS),
        "NO_PROXY": _with_loopback(kept.get("NO_PROXY", "")),
        "no_proxy": _with_loopback(kept.get("no_proxy", "")),
        "GX_ANALYTICS_ENABLED": "false",
        "SCARF_ANALYTICS": "false",
        "DO_NOT_TRACK": "1",
        "AIRFLOW_HOME": str(home.path),
        HOME_TAG: str(home.path),
        "PLIMSOLL_STORE": settings.store,
        "PLIMSOLL_CACHE": str(settings.cache),
        "PLIMSOLL_WORK": str(settings.work),
        "PLIMSOLL_CAMPAIGNS": str(settings.campaigns),
        "PLIMSOLL_USERS": users,
    }
    sections: Mapping[str, Mapping[str, str]] = {
        "core": {
            "dags_folder": str(settings.dags),
            "executor": "plimsoll_airflow.internals.executor.RepairedLocalExecutor",
            "execution_api_server_url": f"http://{LOOPBACK}:{port}/execution/",
            "parallelism": "12",
            # A run of a campaign's DAG is a mapped task for each cell.
            "max_map_length": str(MAX_CELLS),
            "load_examples": "False",
            "default_timezone": "utc",
            "fernet_key": secrets.fernet_key,
            "simple_auth_manager_users": users,
            "simple_auth_manager_passwords_file": str(home.passwords),
            # The default asks the name service, which may be slow or absent.
            "hostname_callable": "socket.gethostname",
        },
        "database": {
            "sql_alchemy_conn": database_url(home.socket_dir),
            # A stamp beside the data says which version they were migrated to; each process would read all migrations.
            "check_migrations": "False",
        },
        "api": {
            "host": LOOPBACK,
            "port": str(port),
            "base_url": f"http://{LOOPBACK}:{port}",
            "workers": "1",
            # An open page of Airflow asks for all of a run this often. What it shows takes minutes, and its answers
            # take processor time from a machine that may be measured.
            "auto_refresh_interval": "10",
            "secret_key": secrets.api_secret,
        },
        "workers": WORKERS,
        "api_auth": {"jwt_secret": secrets.jwt_secret},
        "logging": {
            "base_log_folder": str(home.logs),
            "colored_console_log": "False",
            # A line for each of the tasks' calls says nothing that the tasks' own logs don't.
            "namespace_levels": "http.access=WARNING",
        },
        "scheduler": SCHEDULER,
        "triggerer": TRIGGERER,
        "dag_processor": DAG_PROCESSOR,
        "usage_data_collection": {"enabled": "False"},
    }
    for section, options in sections.items():
        environment |= {f"AIRFLOW__{section}__{key}".upper(): value for key, value in options.items()}
    return {**environment, **settings.extra}


def database_url(socket_dir: Path) -> str:
    """Return SQLAlchemy's URL of the metadata database, over the Unix socket, as the operating system's user."""
    return f"postgresql+psycopg2://{DATABASE_USER}@/postgres?host={quote(str(socket_dir), safe='/')}"


BUNDLE = "plimsoll_airflow.internals.dag_bundle.CampaignsBundle"
SCHEDULER = {
    "scheduler_heartbeat_sec": "5",
    "job_heartbeat_sec": "5",
    # A busy scheduler that declares itself dead resets the tasks it runs.
    "scheduler_health_check_threshold": "300",
    "task_instance_heartbeat_timeout": "300",
    "task_instance_heartbeat_timeout_detection_interval": "30",
    # How long the tasks of a scheduler that is known to be dead wait for another.
    "orphaned_tasks_check_interval": "60",
    "parsing_cleanup_interval": "300",
    # Its server listens on every address of the machine unless told otherwise
    "enable_health_check": "False",
    "use_job_schedule": "True",
}
WORKERS = {
    # A task's supervisor notices the end of its task only at its next heartbeat, and holds its worker until then.
    "min_heartbeat_interval": "1",
    "execution_api_timeout": "30",
}
TRIGGERER = {"capacity": "200", "job_heartbeat_sec": "5", "triggerer_health_check_threshold": "60"}
DAG_PROCESSOR = {
    "parsing_processes": "1",
    # A changed file is parsed when it is seen, whatever this says; unchanged ones once an hour.
    "min_file_process_interval": "3600",
    # At each refresh the bundle looks for changed definitions; it comes at the first check after the interval.
    "refresh_interval": "20",
    "bundle_refresh_check_interval": "20",
    "dag_bundle_config_list": json.dumps([{"name": "dags-folder", "classpath": BUNDLE, "kwargs": {}}]),
    "print_stats_interval": "600",
    # A local folder has no versions, so no copies of old ones pile up
    "stale_bundle_cleanup_interval": "0",
    "health_check_threshold": "120",
}


WARNINGS = ",".join(
    [
        # Airflow's own, on patterns of files that DAGs are not looked for in
        "ignore:GitWildMatchPattern:DeprecationWarning",
        # FastAPI's test client, which Airflow's client of its own API imports, with the httpx that Airflow pins
        "ignore:Using `httpx` with",
    ]
)
"""Warnings of libraries that nobody here can change. Without this they stand in each component's log at each start."""


def _with_loopback(hosts: str) -> str:
    return ",".join(filter(None, [hosts, LOOPBACK, "localhost"]))
