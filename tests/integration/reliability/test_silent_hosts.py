"""Hosts that answer no more, from the middle of each phase on: frozen or cut off, it is the same to who asks."""

import pytest
from tests.integration.reliability.struck import Place

REASONS = {
    ("deploy", "node"): "deploy: host node",
    ("deploy", "load"): "deploy: host load",
    ("load", "node"): "nothing was collected from node",
    ("load", "load"): "load: out of reach for 0:05:00: host load",
    ("collect", "load"): "nothing was collected from load: host load",
}
"""By phase and role of the host, how the reason begins."""


@pytest.fixture
def duration() -> str:
    """Return one so long that nobody looks at the load more often than every ten seconds."""
    return "400s"


@pytest.mark.parametrize(("phase", "role"), REASONS)
def test_a_host_that_stays_silent_makes_the_attempt_invalid(place: Place, phase: str, role: str) -> None:
    place.moments.within[phase] = lambda: place.moments.silent.add(place.instance(role))
    [reason] = place.run().reasons
    assert reason.startswith(REASONS[phase, role])
    assert f"nothing was collected from {role}" in reason
    assert place.cloud.nothing_left(), place.cloud.leftovers()


def test_a_host_that_is_silent_for_a_while_costs_nothing(place: Place) -> None:
    place.moments.within["load"] = lambda: place.moments.silent.add(place.instance("load"))
    place.moments.when["observed now"] = place.moments.silent.clear
    assert place.run().valid
    assert any("observed now" in said for said in place.moments.said)
    place.assert_counts_once()
