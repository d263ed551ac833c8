"""The Compose file of a team: what must hold in it, whoever edits it."""

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from plimsoll.domain.keys.definition_keys import MAX_CELLS
from plimsoll.settings import Settings
from plimsoll_airflow.wiring.core import AIRFLOW_SECRETS

VARIABLE = re.compile(r"(?<!\$)\$\{(?P<name>\w+)(?P<kind>:[-?])?(?P<rest>[^}]*)\}")
SECRET_NAME = re.compile(r"PASSWORD|SECRET(?!S$)|_KEY$|AUTH$|SQL_ALCHEMY_CONN$|BROKER_URL$|AIRFLOW_CONN_")
AIRFLOW_OPTION = re.compile(r"AIRFLOW__(?P<section>\w+?)__(?P<option>\w+)$")
OF_PROVIDERS = {
    ("celery", "broker_url"),
    ("celery", "extra_celery_config"),
    ("celery", "worker_concurrency"),
    ("celery_broker_transport_options", "visibility_timeout"),
}

Services = dict[str, dict[str, Any]]


def variables(text: str, kind: str) -> dict[str, str]:
    """Name → default or message of the variables of that kind."""
    return {found["name"]: found["rest"] for found in VARIABLE.finditer(text) if found["kind"] == kind}


def is_one_shot(name: str, services: Services) -> bool:
    """Tell whether it ends by itself: a tool that a person runs, or what others wait for the end of."""
    awaited = [service.get("depends_on", {}).get(name, {}).get("condition") for service in services.values()]
    return "profiles" in services[name] or "service_completed_successfully" in awaited


def environments(services: Services) -> list[tuple[str, str, str]]:
    """Return service, name and value of everything that a service is told."""
    variables = [(service, *item) for service, d in services.items() for item in d.get("environment", {}).items()]
    return [(service, name, str(value)) for service, name, value in variables]


def test_the_parts_of_airflow_are_there(services: Services) -> None:
    long_lived = {name for name in services if not is_one_shot(name, services)}
    airflow = {"api-server", "scheduler", "dag-processor", "triggerer", "worker"}
    assert long_lived == {"postgres", "redis", *airflow}


def test_what_runs_on_is_watched_and_started_again(services: Services) -> None:
    for name, service in services.items():
        if is_one_shot(name, services):
            assert service["restart"] == "no", name
        else:
            assert service["restart"] == "unless-stopped", name
            assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}, name


def test_a_run_can_start_every_cell_of_a_definition_that_names_no_limit(services: Services) -> None:
    allowed = {value for _, name, value in environments(services) if name == "AIRFLOW__CORE__MAX_MAP_LENGTH"}
    assert allowed == {f"${{AIRFLOW__CORE__MAX_MAP_LENGTH:-{MAX_CELLS}}}"}


def test_every_setting_of_an_installation_for_several_people_is_passed_on(services: Services) -> None:
    told = {name.removeprefix("PLIMSOLL_").lower() for _, name, _ in environments(services)}
    # Folders are in the image; users and keys are Airflow's, which is Plimsoll's alone
    elsewhere = {"work", "cache", "users", "ssh_key", "ssh_user", "toolkit", "prefix", "store_connection"}
    databases = {name for name in Settings.model_fields if name.startswith("database_")}
    assert Settings.model_fields.keys() - elsewhere - databases <= told


def test_commands_take_keys_from_airflows_connections_like_its_own_processes(services: Services) -> None:
    named = {value for _, name, value in environments(services) if name == "PLIMSOLL_SECRETS"}
    assert named == {f"${{PLIMSOLL_SECRETS:-{AIRFLOW_SECRETS}}}"}


def test_what_is_passed_on_and_empty_counts_as_left_out(
    services: Services, compose_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = {name for _, name, _ in environments(services) if name.startswith("PLIMSOLL_")}
    for name in passed & {name for name, default in variables(compose_text, ":-").items() if not default}:
        monkeypatch.setenv(name, "")
    settings = Settings()
    assert (settings.raw_days, settings.raw_gb, settings.provider_programs) == (None, None, None)


def test_each_part_has_a_health_check_of_its_own(services: Services) -> None:
    checks = [str(service["healthcheck"]["test"]) for service in services.values() if "healthcheck" in service]
    assert len(set(checks)) == len(checks)


def test_everything_is_limited(services: Services) -> None:
    for name, service in services.items():
        limits = service["deploy"]["resources"]["limits"]
        assert {"cpus", "memory", "pids"} <= limits.keys(), name


def test_nothing_has_more_rights_than_it_needs(services: Services) -> None:
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service.keys().isdisjoint({"privileged", "cap_add", "devices", "network_mode", "pid", "ipc"}), name
        assert service.get("user") != "root", name
        assert not [volume for volume in service.get("volumes", []) if "docker.sock" in volume], name


def test_what_runs_on_hosts_can_be_changed_by_those_alone_who_bring_it_there(services: Services) -> None:
    mounts = {name: {volume.split(":")[0]: volume for volume in one["volumes"]} for name, one in services.items()}
    cache = {name: of["cache"] for name, of in mounts.items() if "cache" in of}
    readers = {name for name, volume in cache.items() if volume.endswith(":ro")}
    # `init` mounts it first, which gives the volume its owner, and ends.
    assert (cache.keys() - readers, readers) == ({"init", "worker", "prepare"}, {"triggerer"})
    definitions = [volume for of in mounts.values() for volume in of.values() if "/campaigns" in volume]
    assert definitions
    assert all(volume.endswith(":ro") for volume in definitions)


def test_only_the_api_server_is_published_and_on_loopback(services: Services) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"api-server": ["127.0.0.1:${PLIMSOLL_PORT:-8080}:8080"]}


def test_database_and_broker_can_be_reached_from_airflow_alone(services: Services, compose_text: str) -> None:
    assert YAML(typ="safe").load(compose_text)["networks"]["backend"] == {"internal": True}
    assert [services[name]["networks"] for name in ("postgres", "redis")] == [["backend"], ["backend"]]


def test_no_secret_is_written_down_or_has_a_default(services: Services) -> None:
    secrets = [item for item in environments(services) if SECRET_NAME.search(item[1])]
    assert {"AIRFLOW__CORE__FERNET_KEY", "POSTGRES_PASSWORD", "REDISCLI_AUTH"} <= {name for _, name, _ in secrets}
    for service, name, value in secrets:
        assert variables(value, ":?"), (service, name)
        assert not variables(value, ":-"), (service, name)


def test_no_url_holds_a_password_that_is_not_a_variable(compose_text: str) -> None:
    passwords = re.findall(r"://\w*:((?:\$\{[^}]*\}|[^@/\s])+)@", compose_text)
    assert len(passwords) == 2
    assert all(VARIABLE.fullmatch(password) for password in passwords)


def test_no_secret_is_on_a_command_line(services: Services) -> None:
    for name, service in services.items():
        commands = [service.get(key) for key in ("command", "entrypoint", "healthcheck")]
        assert not [found["name"] for found in VARIABLE.finditer(str(commands))], name


def test_tokens_are_signed_where_they_are_made_alone(services: Services) -> None:
    holders = {service for service, name, _ in environments(services) if name == "AIRFLOW__API_AUTH__JWT_SECRET"}
    assert holders == {"api-server", "scheduler"}


def test_every_variable_without_a_default_is_in_the_example_and_empty(compose_text: str, env_example: str) -> None:
    required = dict(re.findall(r"^(\w+)=(.*)$", env_example, re.MULTILINE))
    assert required == dict.fromkeys(variables(compose_text, ":?"), "")
    assert "PLIMSOLL_STORE" in required


def test_every_other_variable_is_in_the_example_with_its_default(
    compose_text: str, env_example: str, dockerfile: list[str]
) -> None:
    base = dict(line.removeprefix("ARG ").split("=", 1) for line in dockerfile if line.startswith("ARG "))
    shown = dict(re.findall(r"^#(\w+)=(.*)$", env_example, re.MULTILINE))
    assert shown == {**variables(compose_text, ":-"), **base}


def test_no_variable_is_substituted_by_nothing_when_it_is_missing(compose_text: str) -> None:
    assert {found["kind"] for found in VARIABLE.finditer(compose_text)} == {":?", ":-"}
    assert not re.findall(r"(?<!\$)\$\w+", compose_text)


def test_images_are_built_here_or_pinned(services: Services, compose_text: str) -> None:
    for name, service in services.items():
        default = variables(service["image"], ":-")
        if "build" in service:
            assert service["image"] == "plimsoll-airflow", name
        else:
            assert re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?-[a-z]+@sha256:[0-9a-f]{64}", next(iter(default.values()))), (
                name
            )


def test_volumes_are_declared_and_used(services: Services, compose_text: str) -> None:
    mounted = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])}
    named = {volume for volume in mounted if not volume.startswith("$")}
    assert named == set(YAML(typ="safe").load(compose_text)["volumes"])


@pytest.mark.parametrize("has_pool", [False, True])
def test_the_database_is_migrated_and_the_pool_is_made_once(services: Services, tmp_path: Path, has_pool: bool) -> None:
    """A program stands in for `airflow`; it notes what it is asked, and knows the pool or does not."""
    program = tmp_path / "airflow"
    knows_pool = f'case "$*" in *get*) exit {0 if has_pool else 1};; esac'
    program.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\n{knows_pool}\n')
    program.chmod(0o755)
    init = services["init"]
    command = [*init["entrypoint"], *(part.replace("$$", "$") for part in init["command"])]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "CLUSTERS": "4"}
    subprocess.run(command, env=environment, timeout=60, check=True)

    migrated, looked, *made = (tmp_path / "asked").read_text().splitlines()
    assert (migrated, looked) == ("db migrate", "pools get clusters")
    # A pool that is there may have been changed by its users. It counts deferred tasks, for their clusters live.
    assert [words.split()[:5] for words in made] == (
        [] if has_pool else [["pools", "set", "--include-deferred", "clusters", "4"]]
    )


@pytest.fixture(scope="module")
def airflow_options() -> set[tuple[str, str]]:
    """Read every option of Airflow's own from the file that documents them; Airflow itself is not imported."""
    spec = find_spec("airflow")
    assert spec is not None
    places = [Path(place) / "config_templates" / "config.yml" for place in spec.submodule_search_locations or ()]
    sections = YAML(typ="safe").load(next(place for place in places if place.exists()))
    return {(name, option) for name, section in sections.items() for option in section["options"]}


def test_every_setting_is_one_that_airflow_knows(services: Services, airflow_options: set[tuple[str, str]]) -> None:
    names = {name for _, name, _ in environments(services) if name.startswith("AIRFLOW__")}
    found = [AIRFLOW_OPTION.match(name) for name in names]
    named = {(match["section"].lower(), match["option"].lower()) for match in found if match}
    assert len(named) == len(names)
    assert named - OF_PROVIDERS <= airflow_options
