"""Where the nodes of a new cluster stand on the ring."""

_RING = 2**64
_FIRST = -(2**63)


def initial_tokens(node: int, *, nodes: int, tokens_per_node: int) -> tuple[int, ...]:
    """The Murmur3 tokens of node `node` (from 0), rising.

    All tokens of the cluster are spread evenly and dealt out in turn, so that every node owns the same share and has
    every other node beside it. Cassandra's own allocation reaches that only roughly, and needs its nodes to join one
    after another; preset tokens let them all join at once.
    """
    total = nodes * tokens_per_node
    return tuple(_FIRST + position * _RING // total for position in range(node, total, nodes))
