from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.adapters.providers.ec2.checks import patience_problems
from plimsoll.adapters.providers.ec2.options import Ec2Options
from plimsoll.adapters.providers.requested import options_of_request
from plimsoll.domain.keys.faults import problems_of
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.provider import TIME_TO_PROVISION
from plimsoll.services.steps.steps import step


def problems(options: Any) -> list[Any]:
    with pytest.raises(ValidationError) as caught:
        Ec2Options.model_validate(options)
    return [str(problem) for problem in problems_of(caught.value, Ec2Options, "provider.options")]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"region": "moon"}, "provider.options.region"),
        ({"image": "windows"}, "provider.options.image"),
        ({"instance_types": {"node": "r5d.2xlarge"}}, "provider.options.instance_types.load"),
        ({"instance_types": {"node": "big", "load": "c5.2xlarge"}}, "provider.options.instance_types.node"),
        ({"spot": True}, "provider.options.spot"),
        ({"subnets": []}, "neither `subnets` nor `zones`"),
        ({"zones": ["us-east-1a"]}, "both `subnets` and `zones`"),
        ({"root_volume": "1G"}, "provider.options.root_volume"),
    ],
)
def test_wrong_options_are_named_with_what_there_is(
    raw_options: dict[str, Any], change: dict[str, Any], said: str
) -> None:
    (problem,) = problems({**raw_options, **change})
    assert said in problem
    assert problem.endswith(")")  # says what to write


@pytest.mark.parametrize("usd", [float("nan"), float("inf")])
def test_a_price_is_a_number_with_which_a_budget_can_be_kept(raw_options: dict[str, Any], usd: float) -> None:
    (problem,) = problems({**raw_options, "prices": {"r5d.2xlarge": usd}})
    assert problem == f"provider.options.prices.r5d.2xlarge: must be a finite number; found {usd}"


def test_what_is_missing_is_named(raw_options: dict[str, Any]) -> None:
    del raw_options["security_group"]
    assert problems(raw_options)[0].startswith("provider.options.security_group: is missing (write text: id (sg-…)")


def test_values_have_units(raw_options: dict[str, Any]) -> None:
    options = Ec2Options.model_validate({**raw_options, "patience": "2h", "root_volume": "40G"})
    assert options.patience.total_seconds() == 7200
    assert options.root_volume == 40 * 2**30


def test_options_of_a_cluster_that_cannot_be_read_are_an_error(raw_options: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match="campaign azul"):
        options_of_request(Ec2Options, {**raw_options, "region": "moon"}, "campaign azul")


@pytest.mark.parametrize(
    ("waits", "mend"),
    [
        ({}, ""),
        ({"patience": "100m"}, ""),
        ({"patience": "101m"}, "write a shorter `startup`, or at most 100m"),
        ({"patience": "10m", "startup": "56m"}, "write a shorter `startup`, or at most 8m"),
        ({"startup": "1h"}, "write a shorter `startup`"),
    ],
)
def test_a_cell_may_wait_for_hosts_only_as_long_as_its_step_may_take(raw_options: Any, waits: Any, mend: str) -> None:
    found = patience_problems(Ec2Options.model_validate({**raw_options, **waits}))
    assert [(problem.where, problem.mend) for problem in found] == (
        [("provider.options.patience", mend)] if mend else []
    )
    assert TIME_TO_PROVISION == step("provision").timeout == timedelta(hours=2)
