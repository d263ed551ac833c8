import pytest

from plimsoll.adapters.products.cassandra.node import initial_tokens

RING = 2**64


@pytest.mark.parametrize(("nodes", "tokens_per_node"), [(1, 1), (1, 16), (3, 1), (3, 16), (5, 4), (7, 256)])
def test_tokens_of_all_nodes_are_spread_evenly_over_the_whole_ring(nodes: int, tokens_per_node: int) -> None:
    dealt = [initial_tokens(node, nodes=nodes, tokens_per_node=tokens_per_node) for node in range(nodes)]
    ring = sorted(token for tokens in dealt for token in tokens)
    assert len(set(ring)) == nodes * tokens_per_node
    assert ring[0] == -(2**63)
    assert ring[-1] < 2**63
    gaps = {after - before for before, after in zip(ring, [*ring[1:], ring[0] + RING], strict=True)}
    assert max(gaps) - min(gaps) <= 1


def test_neighbours_on_the_ring_are_different_nodes() -> None:
    owners = sorted((token, node) for node in range(3) for token in initial_tokens(node, nodes=3, tokens_per_node=16))
    assert [node for _, node in owners] == [0, 1, 2] * 16
