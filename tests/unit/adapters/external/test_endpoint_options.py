"""What a definition says of an endpoint, and what it must not leave out."""

from typing import Any

import pytest

from plimsoll.adapters.external.endpoint_options import EndpointOptions, read_options

WRITTEN: dict[str, Any] = {
    "addresses": ["db.example:5432", "[::1]:6000"],
    "connection": "staging",
    "secrets": {"env": {"PGPASSWORD": "password"}, "files": {"PGPASSFILE": "*:*:*:{user}:{password}"}},
    "environment": {"PGPORT": "{port}"},
    "ready": "is-ready {contact_point}",
    "version": "release",
    "set_up": ["make {own}"],
    "owned": "has {own}",
    "clean_up": ["drop {own}"],
}


def problems(**changes: Any) -> list[str]:
    """Return the problems with keys changed; None takes one out."""
    written = {key: value for key, value in {**WRITTEN, **changes}.items() if value is not None}
    found = read_options(written)
    return [f"{one.where}: {one.what}" for one in found] if isinstance(found, list) else []


def test_an_address_is_a_name_with_its_port() -> None:
    options = read_options(WRITTEN)
    assert isinstance(options, EndpointOptions)
    assert options.places == (("db.example", 5432), ("::1", 6000))
    assert options.environment_at(options.places[1]) == {"PGPORT": "6000"}


def test_the_name_of_a_part_alone_stands_for_it() -> None:
    options = read_options(WRITTEN)
    assert isinstance(options, EndpointOptions)
    assert options.secrets is not None
    assert options.secrets.env == {"PGPASSWORD": "{password}"}
    assert options.secrets.parts == {"user", "password"}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"addresses": ["db.example"]}, "addresses[0]: is no name or address with its port"),
        ({"addresses": ["db.example:70000"]}, "addresses[0]: is no name or address with its port"),
        ({"secrets": {"env": {"PGPASSWORD": "hunter2"}}}, "secrets.env.PGPASSWORD: has no part of the connection"),
        ({"secrets": {"env": {"PGPASSWORD": "{pass}"}}}, "secrets.env.PGPASSWORD: {pass} stands for nothing"),
        ({"secrets": None}, "secrets: is missing: no command is given the connection"),
        ({"connection": None}, "connection: is missing, and `secrets` takes parts of it"),
        ({"clean_up": None}, "clean_up: is missing: what `set_up` makes would stay there"),
        ({"owned": None}, "owned: is missing: it must show"),
        ({"owned": "has bench"}, "owned: has no {own}"),
        ({"set_up": ["one", "make {mine}"]}, "set_up[1]: {mine} stands for nothing"),
        ({"environment": {"PGDATABASE": "{own}"}}, "environment.PGDATABASE: {own} stands for nothing"),
        ({"contact_points": ["a"]}, "contact_points: "),
        ({"environment": {"PLIMSOLL_WORK": "x"}}, "environment.PLIMSOLL_WORK: is Plimsoll's own"),
    ],
)
def test_what_is_wrong_is_named_at_its_key(changes: dict[str, Any], fault: str) -> None:
    [found] = problems(**changes)
    assert found.startswith(f"provider.options.{fault}")


def test_a_password_that_stands_in_a_definition_is_not_repeated() -> None:
    assert "hunter2" not in "".join(problems(secrets={"env": {"PGPASSWORD": "hunter2"}}))


def test_a_variable_is_given_once() -> None:
    found = problems(environment={"PGPASSWORD": "x"})
    assert [one.partition(":")[0] for one in found] == [
        "provider.options.environment.PGPASSWORD",
        "provider.options.secrets.env.PGPASSWORD",
    ]


def test_braces_that_hold_no_name_stand_for_themselves() -> None:
    assert problems(ready='sh -c \'mongosh --eval "db.runCommand({ping: 1})" "${GIVEN}" | awk "{print $1}"\'') == []
