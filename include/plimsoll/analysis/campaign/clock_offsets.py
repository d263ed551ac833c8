"""The largest offsets of hosts' clocks in a campaign, ms, whichever way they are off."""

from collections.abc import Iterable

from plimsoll.domain.fingerprint import Fingerprint


def largest_from_controller_ms(fingerprints: Iterable[Fingerprint]) -> float | None:
    """Return the largest offset of a node's or first load host's clock from the controller's, ms; None: no attempt."""
    return max(
        (
            abs(offset)
            for one in fingerprints
            for offset in (one.load_clock_offset_ms, *(node.clock_offset_ms for node in one.nodes))
        ),
        default=None,
    )


def largest_from_load_host_ms(fingerprints: Iterable[Fingerprint]) -> float | None:
    """Return the largest offset of a node's clock from its first load host's, ms; None where there are no nodes.

    This offset is taken out of the nodes' times.
    """
    return max((abs(ahead) for one in fingerprints for ahead in one.ahead_ms().values()), default=None)
