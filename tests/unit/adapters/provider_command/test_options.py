"""Before a campaign: what is wrong with the options, and what hosts cost."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.adapters.provider_command.cloud_in_memory import CloudInMemory, exits
from tests.unit.adapters.provider_command.conftest import OPTIONS

from plimsoll.adapters.providers.command import CommandProvider, CommandTariffs
from plimsoll.adapters.providers.command.contract import schema
from plimsoll.adapters.providers.command.programs import NO_ROOM, FolderPrograms
from plimsoll.domain.campaign.specs import HostsSpec


def spec(options: dict[str, Any]) -> HostsSpec:
    return HostsSpec(name="demo", options=options, nodes=3, node_hosts=3, load_hosts=1, load_heap="1G", max_parallel=1)


def test_a_cloud_that_answers_has_no_problem(provider: CommandProvider, cloud: CloudInMemory) -> None:
    assert provider.check(spec(OPTIONS)) == []
    assert cloud.calls == ["list"]
    assert cloud.given["list"] == {"format": 1, "tags": {"plimsoll-store": "lab:/store"}, "options": {"size": "small"}}


def test_a_list_that_fails_is_a_problem_of_its_key(provider: CommandProvider, cloud: CloudInMemory) -> None:
    cloud.faults["list"] = [exits(77, "who are you?")]
    [problem] = provider.check(spec(OPTIONS))
    assert (problem.where, "who are you?" in problem.what) == ("provider.options.list", True)


def test_only_a_program_that_makes_hosts_can_lack_room_for_them(
    provider: CommandProvider, cloud: CloudInMemory
) -> None:
    cloud.faults["list"] = [exits(NO_ROOM, "no answer from the API")]
    [problem] = provider.check(spec(OPTIONS))
    assert str(problem.what) == "list could not do it now: no answer from the API"
    assert problem.mend == "try again later"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"launch": []}, "provider.options.launch"),
        ({"list": ["list", "a\x00b"]}, "provider.options.list"),
        ({"prices": {"node": -1}}, "provider.options.prices.node"),
        ({"prices": {"load": float("inf")}}, "provider.options.prices.load"),
        ({"patiense": "1m"}, "provider.options.patiense"),
        ({"folder": "/a b"}, "provider.options.folder"),
    ],
)
def test_wrong_options_are_named(provider: CommandProvider, changes: dict[str, Any], key: str) -> None:
    [problem] = provider.check(spec({**OPTIONS, **changes}))
    assert problem.where.startswith(key)


@pytest.mark.parametrize(
    ("waits", "found"),
    [
        ({"patience": "95m"}, []),
        ({"patience": "96m"}, [("patience", "write a shorter `launch_within` or `startup`, or at most 95m")]),
        ({"patience": "1m", "startup": "2h"}, [("patience", "write a shorter `launch_within` or `startup`")]),
        ({"launch_within": "30m"}, []),
        ({"launch_within": "31m"}, [("launch_within", "write at most 30m")]),
    ],
)
def test_waits_that_do_not_fit_into_the_time_of_their_step_are_refused(
    provider: CommandProvider, waits: dict[str, str], found: list[tuple[str, str]]
) -> None:
    problems = provider.check(spec({**OPTIONS, **waits}))
    assert [(problem.where, problem.mend) for problem in problems] == [
        (f"provider.options.{key}", mend) for key, mend in found
    ]


def test_without_a_folder_there_are_no_programs() -> None:
    assert "PLIMSOLL_PROVIDER_PROGRAMS names no folder" in FolderPrograms(None).problem("launch")


def test_prices_are_those_of_the_definition_and_a_lack_is_told() -> None:
    assert CommandTariffs().tariff(spec(OPTIONS)).usd_per_cluster_hour(3, 1) == 7
    lacking = CommandTariffs().tariff(spec({**OPTIONS, "prices": {"node": 2}}))
    assert lacking.usd_per_cluster_hour(3, 1) is None
    assert lacking.source == "provider.options.prices lacks a price"


def test_the_schema_beside_the_guide_is_the_contract_s() -> None:
    stored = json.loads((Path(__file__).parents[4] / "docs" / "guides" / "any-cloud.schema.json").read_text())
    assert stored == json.loads(json.dumps(schema())), (
        "make it again: python -m plimsoll.adapters.providers.command > docs/guides/any-cloud.schema.json"
    )
