"""What the stack's processes are told."""

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from plimsoll.domain.keys.definition_keys import MAX_CELLS
from plimsoll_airflow.local.home import Home, Secrets, parse_users
from plimsoll_airflow.local.process_environment import StackSettings, database_url, stack_environment

SECRETS = Secrets(fernet_key="fernet", jwt_secret="jwt", api_secret="api")
SETTINGS = StackSettings(
    dags=Path("/checkout/dags"),
    store="s3://bucket/results",
    cache=Path("/cache"),
    work=Path("/work"),
    campaigns=Path("/campaigns"),
    extra={"PLIMSOLL_TOOLKIT": "somewhere:toolkit", "AIRFLOW__CORE__PARALLELISM": "3"},
)


def variables(caller: dict[str, str] | None = None) -> dict[str, str]:
    return stack_environment(Home(Path("/checkout/.airflow")), SECRETS, 8081, SETTINGS, caller or {})


def test_every_server_is_told_to_stay_on_loopback() -> None:
    environment = variables()
    assert environment["AIRFLOW__API__HOST"] == "127.0.0.1"
    assert environment["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"] == "http://127.0.0.1:8081/execution/"
    assert not [name for name, value in environment.items() if "0.0.0.0" in value or "::" in value]


def test_nothing_of_another_airflow_or_postgresql_leaks_in() -> None:
    foreign = {
        "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
        "AIRFLOW_CONFIG": "/etc/airflow.cfg",
        "PGHOST": "db.example",
    }
    environment = variables({**foreign, "AIRFLOW__SMTP__SMTP_HOST": "mail", "LANG": "C.UTF-8"})
    assert environment == {**variables(), "LANG": "C.UTF-8"}


def test_proxies_are_not_asked_for_loopback() -> None:
    environment = variables({"NO_PROXY": "intranet", "HTTP_PROXY": "http://proxy:3128"})
    assert environment["NO_PROXY"] == "intranet,127.0.0.1,localhost"
    assert environment["no_proxy"] == "127.0.0.1,localhost"


def test_campaigns_get_their_places_and_processes_their_mark() -> None:
    environment = variables({"PLIMSOLL_STORE": "/another", "PLIMSOLL_TOOLKIT": "another:toolkit"})
    assert environment["PLIMSOLL_STORE"] == "s3://bucket/results"
    assert environment["PLIMSOLL_HOME"] == environment["AIRFLOW_HOME"] == "/checkout/.airflow"
    assert environment["PLIMSOLL_TOOLKIT"] == "somewhere:toolkit"


def test_extra_settings_win() -> None:
    assert variables()["AIRFLOW__CORE__PARALLELISM"] == "3"


def test_a_run_can_start_every_cell_of_a_definition_that_names_no_limit() -> None:
    assert variables()["AIRFLOW__CORE__MAX_MAP_LENGTH"] == str(MAX_CELLS)


def test_nobody_is_told_about_our_use() -> None:
    environment = variables()
    assert environment["GX_ANALYTICS_ENABLED"] == "false"
    assert environment["AIRFLOW__USAGE_DATA_COLLECTION__ENABLED"] == "False"


def test_warnings_are_filtered_as_the_caller_has_it_or_where_nobody_can_do_anything() -> None:
    assert variables({"PYTHONWARNINGS": "error"})["PYTHONWARNINGS"] == "error"
    assert variables()["PYTHONWARNINGS"].startswith("ignore:GitWildMatchPattern:DeprecationWarning,")


def test_the_database_url_names_the_socket_folder_whatever_its_name() -> None:
    url = urlsplit(database_url(Path("/a folder/with & and ?/socket")))
    assert (url.scheme, url.username) == ("postgresql+psycopg2", "airflow")
    assert parse_qs(url.query) == {"host": ["/a folder/with & and ?/socket"]}


def test_users_are_those_that_were_chosen() -> None:
    assert variables()["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"] == "admin:admin"
    chosen = replace(SETTINGS, users=parse_users("ada:admin,bob:viewer"))
    environment = stack_environment(Home(Path("/checkout/.airflow")), SECRETS, 8081, chosen, {})
    assert environment["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"] == "ada:admin,bob:viewer"
    assert environment["PLIMSOLL_USERS"] == "ada:admin,bob:viewer"


def test_an_open_page_of_airflow_asks_less_often_than_airflow_has_it() -> None:
    assert int(variables()["AIRFLOW__API__AUTO_REFRESH_INTERVAL"]) > 3


def test_definitions_are_looked_at_often_enough_and_dag_files_read_only_then() -> None:
    environment = variables()
    seconds = {
        name: int(environment[f"AIRFLOW__DAG_PROCESSOR__{name}"])
        for name in ("REFRESH_INTERVAL", "BUNDLE_REFRESH_CHECK_INTERVAL", "MIN_FILE_PROCESS_INTERVAL")
    }
    # What is added just after a look is seen at the first check after the interval; parsing takes some seconds.
    assert seconds["REFRESH_INTERVAL"] + seconds["BUNDLE_REFRESH_CHECK_INTERVAL"] <= 45
    assert seconds["MIN_FILE_PROCESS_INTERVAL"] == 3600
    (bundle,) = json.loads(environment["AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST"])
    assert bundle["classpath"] == "plimsoll_airflow.internals.dag_bundle.CampaignsBundle"
