"""What tasks tell of the campaign's cost beside their work."""

from dataclasses import replace

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import PaidProvider, Prices, hide_costs

from plimsoll.services.cell.attempts import begin
from plimsoll_airflow.operators.cell import Provision


def test_a_cost_that_can_not_be_read_keeps_no_attempt_from_being_provisioned(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.open_campaign(instant_definition(variants=1, loads=1))
    free = installation.toolkit
    provider = PaidProvider(free.providers["instant"], free.clock)
    tools = replace(free, providers={"instant": provider}, tariffs={"instant": Prices()})
    work = begin(tools, "campaign", "v1-001k-r1", "me")
    hide_costs(monkeypatch)

    lines = list(Provision(task_id="provision").beforehand(work))

    assert lines == ["what the campaign has spent so far can't be told: the store is away"]
