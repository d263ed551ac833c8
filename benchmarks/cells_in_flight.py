"""What Airflow works for cells that are all under load at the same time, in which nothing happens but their loads.

    .venv/bin/python -m benchmarks.cells_in_flight [--cells N] [--seconds S]

Clusters and loads are simulated; Airflow runs on PostgreSQL. Looks at loads and runs come as often as with loads of 20
minutes or more. CPU is the CPU time (user and system) of all of Airflow's processes, first while there are no cells,
then while all are under load. The difference grows with the number of cells, so more of them can be estimated.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.instant_campaign import cpu_seconds
from tests.support.airflow.stack import StackUnderTest, running_stack
from tests.support.processes import CHECKOUT, command_line, until

from plimsoll.domain.definition.definition import Definition
from plimsoll_airflow.checks import TRIGGERS_OF_A_CELL
from plimsoll_airflow.local import processes

_TIMING = {"duration": "20m", "warmup": "10s"}
"""As long as it takes until longer loads are looked at no less often."""
_ENDLESS_S = 86_400.0
_SETTLING_S = 60.0
"""After a start: the last tasks end, and what is done once is done."""
_PATIENCE_S = 3 * 3600.0


@dataclass(frozen=True)
class Spell:
    """CPU seconds a minute and the memory, MB, by part of Airflow; and the connections to its database."""

    cpu_s: Mapping[str, float]
    memory_mb: Mapping[str, float]
    connections: int


def main() -> None:
    """Print both spells, and what a thousand cells would take by them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=120, help="of each spell")
    arguments = parser.parse_args()
    cells, seconds = arguments.cells, arguments.seconds
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as folder:
        installation = Installation(Path(folder) / "plimsoll")
        definition = installation.define(_definition(cells))
        environment = {
            **installation.environment,
            "PYTHONPATH": str(CHECKOUT),
            "PLIMSOLL_CELL_RUNS": str(cells),
            "AIRFLOW__TRIGGERER__CAPACITY": str(TRIGGERS_OF_A_CELL * cells),
        }
        with running_stack(Path(folder), env=environment, dag_ids=[definition.dag_id, "cell"]) as airflow:
            idle = _spell(airflow, seconds)
            began = time.monotonic()
            _start(airflow, installation, definition, cells)
            print(f"{cells} cells under load {time.monotonic() - began:.0f} s after the trigger")
            _print(idle, _spell(airflow, seconds), cells)


def _definition(cells: int) -> Definition:
    """Return as many cells, all at a time, whose loads outlast the measurement."""
    made = instant_definition("flight", variants=1, loads=cells, parallel=cells, load_s=_ENDLESS_S)
    return Definition.model_validate({**made.model_dump(mode="json"), "timing": _TIMING})


def _start(airflow: StackUnderTest, installation: Installation, definition: Definition, cells: int) -> None:
    airflow.client.set_pool("clusters", cells, "How many clusters may live at once")
    airflow.client.unpause(definition.dag_id)
    airflow.client.trigger(definition.dag_id, {})

    def under_load() -> int:
        return len(list((installation.folder / "work" / "alive").glob("*/*/load.json")))

    until(lambda: under_load() == cells, lambda: f"{cells} loads: {under_load()}", patience_s=_PATIENCE_S)


def _spell(airflow: StackUnderTest, seconds: float) -> Spell:
    time.sleep(_SETTLING_S)
    before, began = cpu_seconds(airflow.stack.home), time.monotonic()
    time.sleep(seconds)
    after, took_s = cpu_seconds(airflow.stack.home), time.monotonic() - began
    members = processes.members(airflow.stack.home)
    backends = [member for member in members if "[local]" in " ".join(command_line(member.process))]
    cpu_s = {part: (after[part] - before[part]) * 60 / took_s for part in after}
    return Spell(cpu_s, _memory_mb(members), len(backends))


def _memory_mb(members: Sequence[processes.Member]) -> Mapping[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for member in members:
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            found[member.component] += member.process.memory_full_info().pss / 1e6
    return found


def _print(idle: Spell, busy: Spell, cells: int) -> None:
    for part in sorted(busy.cpu_s):
        more = busy.cpu_s[part] - idle.cpu_s.get(part, 0)
        print(
            f"  {part}: {idle.cpu_s.get(part, 0):.1f} CPU s a minute without cells, {busy.cpu_s[part]:.1f} with;"
            f" by this {more * 1000 / cells:.0f} more for 1,000 cells; {busy.memory_mb.get(part, 0):.0f} MB"
        )
    print(f"  connections to the database: {idle.connections} without cells, {busy.connections} with")


if __name__ == "__main__":
    main()
