"""What hosts are held to: the figures that each must reach before it is loaded, how calm it must be, and how much
noise a missed interval may have and still count as the database's miss.

The defaults lie between what was measured: in 12 cells far beyond the nodes' limit, on two processors with Airflow,
others took up to 8.2 % of the processors and other machines less than 0.1 %. One busy program takes 50 %. Steal was
10.2 and 19.4 % in two attempts that it spoilt.

Upper bounds: of definitions, and of what Plimsoll reads from files that others made.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field

from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import Percent, PositiveDuration, Size, share

LONGEST_WAIT = timedelta(minutes=30)
"""The longest `wait_for_calm`: it is a part of the hour of the step in which the database starts."""


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


class Floor(Model):
    """The least figures that a host must reach, in bytes per second."""

    cpu: Annotated[Size | None, Field(description="Data that all processors hash with SHA-256")] = None
    disk_write: Annotated[Size | None, Field(description="Data written to the disk of the database's data")] = None
    disk_read: Annotated[Size | None, Field(description="Data read from the disk of the database's data")] = None
    network: Annotated[Size | None, Field(description="Data sent to another host of the cluster")] = None


class Canary(Model):
    """The check of every host before the database starts. A host below a floor of its role ends the attempt or, if
    hosts are kept, is replaced.
    """

    node: Annotated[Floor, Field(description="Floors of the database nodes")] = Floor()
    load: Annotated[Floor, Field(description="Floors of the load hosts")] = Floor()


class HostFigures(Model):
    """The figures that one host reached, in bytes per second."""

    host: str
    cpu_bytes_s: float
    disk_write_bytes_s: float
    disk_read_bytes_s: float
    network_bytes_s: Annotated[
        float, Field(description="The better of what it sent to one neighbour and received from another")
    ]


class CanaryReport(Model):
    """The figures of all hosts of an attempt, in the cluster's order."""

    hosts: tuple[HostFigures, ...]


def _is_clear(value: object) -> object:
    """Refuse a bare 1, which is 100 % elsewhere: here it is meant for 1 %, and would switch the check off."""
    if value == 1 and type(value) is int:
        raise ValueError("1 is not a percentage like 1% or 100%")
    return value


_Tolerated = Annotated[Percent, BeforeValidator(_is_clear)]


class Disturbance(Model):
    """The bounds of noise. A miss counts if noise was within them in at least one missed interval, on every host."""

    foreign_cpu: Annotated[
        _Tolerated, share("Share of a host's processors that programs outside the cell may take", 10)
    ] = 10
    steal: Annotated[_Tolerated, share("Share of a host's processors that other machines may take", 5)] = 5
    throttled: Annotated[_Tolerated, share("Share of periods in which the cell may have used up a CPU quota", 5)] = 5
    generator_lag: Annotated[
        LeftOutIfEmpty[PositiveDuration | None],
        Field(
            description="How long the load generator may have stalled or been late. Without it: the shortest stall "
            "that makes an interval miss by itself"
        ),
    ] = None
    tries: Annotated[
        int, Field(ge=1, le=20, description="How often a disturbed cell runs by itself, the first time included")
    ] = 2


def noise(activity: HostActivity, bounds: Disturbance) -> str:
    """Describe the activity beyond its bounds as a phrase; empty for a calm host."""
    heard = []
    if activity.foreign_cpu is not None and activity.foreign_cpu > bounds.foreign_cpu / 100:
        most = ", ".join(f"{name} {share:.0%}" for name, share in activity.programs)
        heard.append(f"other programs take {activity.foreign_cpu:.0%} of its processors{f' ({most})' if most else ''}")
    if activity.steal > bounds.steal / 100:
        heard.append(f"other machines take {activity.steal:.0%} of its processors")
    if activity.throttled is not None and activity.throttled > bounds.throttled / 100:
        heard.append(f"its CPU quota is used up in {activity.throttled:.0%} of all periods")
    return ", ".join(heard)


LARGEST_BYTES = 4 << 30
"""The greatest size of anything that is unpacked or read whole: a bundle without its raw files, the files of one run.
In a bundle 275 cells of noise take a thirtieth of it; the logs of the largest cell of the published campaign take a
fortieth.
"""

MOST_MEMORY_OF_A_BUNDLE = 2 * LARGEST_BYTES
"""The memory that making a report from a bundle may take, bytes: the bundle, its unpacked content, and the report."""

MOST_CELLS_OF_A_TABLE = 50_000_000
"""Rows × columns of a table of one attempt. One of the published campaign has some thousand rows."""

MOST_TEXT_OF_A_TABLE = 1 << 29
"""Bytes of one of its columns of texts, with every text as long as the longest."""

LARGEST_GRID = 500_000
"""No definition may allow more cells."""

LONGEST_CELL_ID = 80
"""They stand in ids of Airflow's runs, in names of files and in tags of a cloud, which have limits of their own."""


def raise_limit(cells: int) -> str:
    """Return the advice to raise the limit of cells, where the number of cells is within what a limit may allow."""
    return f", or `max_cells: {cells}` if that is meant" if cells <= LARGEST_GRID else ""
