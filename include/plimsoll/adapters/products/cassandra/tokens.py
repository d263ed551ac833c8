"""The tokens of the nodes of a new cluster."""

_RING = 2**64
_FIRST = -(2**63)


def initial_tokens(node: int, *, nodes: int, tokens_per_node: int) -> tuple[int, ...]:
    """Return the Murmur3 tokens of node number `node`, counted from 0, in ascending order.

    The tokens of the cluster are spread evenly and given to the nodes in turn, so every node owns the same share of the
    ring. Cassandra's own allocation gives only roughly equal shares, and its nodes must join one after another. With
    preset tokens all nodes can join at once.
    """
    total = nodes * tokens_per_node
    return tuple(_FIRST + position * _RING // total for position in range(node, total, nodes))
