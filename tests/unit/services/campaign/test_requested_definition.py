"""The definition that a request means: with the values it gives, or those of the campaign that goes on."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.fakes.installation import Installation

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.parameters import read_values
from plimsoll.domain.text.errors import DefinitionError, Refused
from plimsoll.services.campaign.open.creation import requested_definition
from plimsoll.services.campaign.open.request import given_values, read_request, values_set
from plimsoll.services.definitions.documents import Document, parse_yaml
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.store.campaigns import CampaignStore

TEXT = """
name: released
title: Release $(version)
parameters:
  version: {type: text, default: 4.0.1}
  rate: {type: number, default: 2000, at_most: 9000}
  size: {type: choice, of: [1, 2], default: 1}
system: {database: instant, version: $(version), nodes: 3}
variants: [{id: v1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}]
loads: [1000/s, $(rate)/s]
repeats: $(size)
load_generator: {name: instant}
timing: {duration: 20s, warmup: 10s}
provider: {name: instant}
"""
DOCUMENT = parse_yaml(TEXT, "released.yaml")


def asked(
    given: Mapping[str, Any], installation: Installation | None = None, document: Document = DOCUMENT
) -> Definition:
    campaign = CampaignStore(installation.toolkit.store, "first") if installation else None
    return requested_definition(document, given, campaign)


def problems(given: Mapping[str, Any], installation: Installation | None = None) -> list[str]:
    with pytest.raises(Refused) as caught:
        asked(given, installation)
    assert caught.value.where == "what the run was asked for"
    return [str(problem) for problem in caught.value.problems]


def test_values_may_be_text_where_a_number_is_meant() -> None:
    definition = asked(values_set(["version=4.1.10", "rate=3e3", "size=2"]))

    assert (definition.system.version, definition.loads, definition.repeats) == ("4.1.10", (1000, 3000), 2)


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"rate": 4000.0, "size": 2.0}, {"rate": 4000, "size": 2}),
        ({"rate": 4000.5}, {"rate": 4000.5}),
        ({"rate": "4e3", "size": "2"}, {"rate": 4000, "size": 2}),
    ],
)
def test_a_number_is_written_the_same_however_it_came(
    given: Mapping[str, Any], values: Mapping[str, int | float]
) -> None:
    known = read_values(asked({}).parameters, given, "a request")

    assert {name: str(value) for name, value in known.items()} == {name: str(value) for name, value in values.items()}


def test_a_campaign_begun_with_a_json_number_can_be_continued(installation: Installation) -> None:
    document = parse_yaml(TEXT.replace("Release $(version)", "$(version) up to $(rate)"), "released.yaml")
    begun = asked({"rate": 4000.0}, installation, document)
    assert begun.title == "4.0.1 up to 4000"
    installation.open_campaign(begun, "first")

    CampaignStore(installation.toolkit.store, "first").continued(asked({}, installation, document))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"verison": "4.1.10"}, "parameters.verison: there is no such parameter (did you mean 'version'? allowed:"),
        ({"version": 4.1}, "parameters.version: must be text of letters, digits and ._:/@=+-; found a number (put it"),
        ({"version": "4.1; id"}, "parameters.version: must be text of letters"),
        ({"version": "--help"}, "parameters.version: must be text of letters"),
        ({"version": "4.1\n"}, "parameters.version: must be text of letters"),
        ({"version": "$(rate)"}, "parameters.version: must be text of letters"),
        ({"version": "x" * 1001}, "parameters.version: must be text of letters"),
        ({"rate": "fast"}, "parameters.rate: must be a number; found 'fast'"),
        ({"rate": True}, "parameters.rate: must be a number; found True"),
        ({"rate": 9001}, "parameters.rate: must be at most 9000; found 9001"),
        ({"rate": 10**400}, "parameters.rate: must be a number; found 1000"),
        ({"rate": "9" * 5000}, "parameters.rate: must be a number; found "),
        ({"size": 3}, "parameters.size: 3 is none of its values (allowed: 1, 2)"),
        ({"size": True}, "parameters.size: True is none of its values (allowed: 1, 2)"),
        ({"size": {"a": [1]}}, "parameters.size: {'a': [1]} is none of its values (allowed: 1, 2)"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_the_name_of_its_parameter(
    given: Mapping[str, Any], message: str
) -> None:
    [problem] = problems(given)

    assert problem.startswith(message)


def test_a_definition_without_parameters_takes_no_values(installation: Installation) -> None:
    plain = parse_yaml(f"name: plain\n{_plain()}", "plain.yaml")
    with pytest.raises(Refused, match="the definition has no `parameters`"):
        asked({"version": "1"}, document=plain)
    assert asked({}, installation, plain).name == "plain"


def test_a_campaigns_own_copy_takes_no_other_values_than_its_own() -> None:
    copy = parse_yaml(dump_definition(asked({"version": "5.0.9"})), "copy.yaml")

    assert asked({"version": "5.0.9"}, document=copy) == asked({}, document=copy)
    with pytest.raises(
        DefinitionError, match=r"parameters\.version \(line \d+\): is 5\.0\.9 in this copy of a campaign"
    ):
        asked({"version": "4.0.2"}, document=copy)


def _plain() -> str:
    lines = [line for line in TEXT.splitlines() if not line.startswith(("  ", "parameters", "name"))]
    return "\n".join(lines).replace("$(version)", "4.0.1").replace("$(rate)", "2000").replace("$(size)", "1")


def test_a_campaign_keeps_the_values_that_it_began_with(installation: Installation) -> None:
    begun = asked({"version": "4.1.10", "rate": 3000}, installation)
    installation.open_campaign(begun, "first")

    assert asked({}, installation) == begun
    assert asked({"version": "4.1.10"}, installation) == begun
    assert problems({"version": "5.0.9"}, installation) == [
        "parameters.version: campaign 'first' began with 4.1.10, not 5.0.9 (leave it out, or begin a new campaign)"
    ]
    changed = parse_yaml(TEXT.replace("default: 4.0.1", "default: 4.0.2").replace("9000", "2500"), "released.yaml")
    going_on = asked({}, installation, changed)
    CampaignStore(installation.toolkit.store, "first").open(going_on)
    assert resolve(going_on).values == {"version": "4.1.10", "rate": 3000, "size": 1}


def test_values_come_as_parameters_or_as_fields_of_the_form() -> None:
    conf = {"parameters": {"version": "4.1.10"}, "parameter_rate": 3000, "parameter_size": None, "cells": "missing"}

    assert given_values(conf) == {"version": "4.1.10", "rate": 3000}
    assert read_request(resolve(asked(given_values(conf))), conf).cells == "missing"
    with pytest.raises(Refused, match=r"parameters: must have keys of its own"):
        given_values({"parameters": "version"})


@pytest.mark.parametrize(
    ("options", "message"),
    [(["version"], "parameters.version: has no value"), (["rate=1", "rate=2"], "parameters.rate: is given twice")],
)
def test_a_setting_is_a_name_and_a_value_once(options: list[str], message: str) -> None:
    with pytest.raises(Refused, match=message):
        values_set(options)
