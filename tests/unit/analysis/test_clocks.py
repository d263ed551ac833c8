"""The largest offsets of clocks, of a load host that is far off while its nodes are as far."""

from tests.support.campaigns.sound_attempt import HOST, node

from plimsoll.analysis.campaign.host_facts import largest_from_controller_ms, largest_from_load_host_ms
from plimsoll.domain.hosts.fingerprint import Fingerprint


def fingerprint(load_ms: float, *nodes_ms: float) -> Fingerprint:
    nodes = tuple(node(f"node{place}").model_copy(update={"clock_offset_ms": ms}) for place, ms in enumerate(nodes_ms))
    return Fingerprint(nodes=nodes, load_host=HOST, load_generator="made up", load_clock_offset_ms=load_ms)


def test_the_controller_s_clock_is_compared_with_nodes_and_load_host() -> None:
    assert largest_from_controller_ms([fingerprint(-41.0, -40.5), fingerprint(2.0, -3.0)]) == 41.0
    assert largest_from_controller_ms([fingerprint(2.0, -3.0)]) == 3.0
    assert largest_from_controller_ms([]) is None


def test_nodes_are_compared_with_their_own_attempt_s_load_host() -> None:
    assert largest_from_load_host_ms([fingerprint(-41.0, -40.5), fingerprint(0.0, 0.25, -0.125)]) == 0.5
    assert largest_from_load_host_ms([fingerprint(-41.0)]) is None
