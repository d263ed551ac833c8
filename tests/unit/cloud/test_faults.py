"""Faults in force: whom they strike and how often."""

import pytest
from tests.cloud.faults import Deny, Faults, NoCapacity, Throttle, parse


def test_a_fault_strikes_where_it_is_meant_to() -> None:
    faults = Faults()
    faults.add(NoCapacity(zone="a", instance_type="r5d.2xlarge"))
    assert faults.at(NoCapacity, "a", "r5d.2xlarge")
    assert faults.at(NoCapacity, "b", "r5d.2xlarge") is None
    assert faults.at(NoCapacity, "a", "c5.2xlarge") is None


def test_a_fault_is_over_after_its_times() -> None:
    faults = Faults()
    faults.add(NoCapacity(times=2))
    assert [bool(faults.at(NoCapacity, "a", "t")) for _ in range(3)] == [True, True, False]
    assert faults.all() == {}


def test_a_share_of_calls_is_spread_evenly() -> None:
    faults = Faults()
    faults.add(Throttle(share=0.25))
    assert [bool(faults.on(Throttle, "Any")) for _ in range(8)] == [False, False, False, True] * 2


def test_a_fault_is_lifted_by_its_number() -> None:
    faults = Faults()
    first, _ = faults.add(Deny(action="RunInstances")), faults.add(Deny(action="GetObject"))
    faults.clear(first)
    assert faults.on(Deny, "RunInstances") is None
    assert faults.on(Deny, "GetObject")
    faults.clear()
    assert faults.on(Deny, "GetObject") is None


def test_a_fault_is_made_from_its_name() -> None:
    assert parse("NoCapacity", {"zone": "a", "times": 1}) == NoCapacity(zone="a", times=1)


@pytest.mark.parametrize(("name", "values"), [("Flood", {}), ("NoCapacity", {"colour": "red"})])
def test_an_unknown_fault_is_refused(name: str, values: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no such fault"):
        parse(name, values)
