"""The activity of a host while nothing of a cell runs on it, and its part beyond what a cell tolerates."""

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.domain.disturbance import Disturbance


@dataclass(frozen=True)
class HostActivity:
    """A host's figures over a few seconds. None: not known.

    `foreign_cpu`, `steal`: shares of all processors' time that other programs and other machines took; `throttled`:
    share of periods in which the CPU quota was used up. `programs`: those that took most, each with its share.
    """

    foreign_cpu: float | None
    steal: float
    throttled: float | None
    memory_available_bytes: float
    programs: tuple[tuple[str, float], ...] = ()


def noise(activity: HostActivity, bounds: Disturbance) -> str:
    """Describe the activity beyond its bounds as a phrase; empty for a calm host."""
    return ", ".join(_noise(activity, bounds))


def _noise(activity: HostActivity, bounds: Disturbance) -> Iterator[str]:
    if activity.foreign_cpu is not None and activity.foreign_cpu > bounds.foreign_cpu / 100:
        most = ", ".join(f"{name} {share:.0%}" for name, share in activity.programs)
        yield f"other programs take {activity.foreign_cpu:.0%} of its processors{f' ({most})' if most else ''}"
    if activity.steal > bounds.steal / 100:
        yield f"other machines take {activity.steal:.0%} of its processors"
    if activity.throttled is not None and activity.throttled > bounds.throttled / 100:
        yield f"its CPU quota is used up in {activity.throttled:.0%} of all periods"
