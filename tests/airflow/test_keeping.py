"""The steps of a cell that keep what was measured, while what they need is away."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.errors import PlimsollError, SecretError, StoreError
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.store.campaigns import read_manifest
from plimsoll_airflow.operators.cell import Keep


@pytest.mark.parametrize("error", [StoreError("the store is away"), SecretError("the connection can't be read")])
def test_an_outage_of_a_minute_is_waited_for_since_the_cluster_is_destroyed_next(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, error: PlimsollError
) -> None:
    installation.open_campaign(instant_definition(variants=1, loads=1))
    clock = SteppingClock()
    work = begin(replace(installation.toolkit, clock=clock), "campaign", "v1-001k-r1", "test")
    for phase in (actions.provision, actions.deploy, loading.start_load):
        phase(work)
    ends, upload = clock.at.timestamp() + 60, type(work.toolkit.store).upload

    def away_for_a_minute(*asked: Any) -> Any:
        if clock.at.timestamp() < ends:
            raise error
        return upload(*asked)

    monkeypatch.setattr(type(work.toolkit.store), "upload", away_for_a_minute)
    task = Keep(task_id="collect")
    monkeypatch.setattr(task, "attempt", lambda _: work)

    task.execute({})  # it asks for nothing but the attempt

    manifest = read_manifest(work.toolkit.store, work.key)
    assert manifest is not None
    assert manifest.failure is None
