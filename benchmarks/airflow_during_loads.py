"""The share of a core that all of Airflow takes while loads run and nothing else happens.

    .venv/bin/python -m benchmarks.airflow_during_loads [--loads N [N …]] [--seconds N]

The real DAGs start loads that last as long as the published ones, on simulated clusters that take no time. When all
loads run, the CPU time (user and system) of all of Airflow's processes is measured for a while.
"""

import argparse
import tempfile
import time
from pathlib import Path

from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.instant_campaign import cpu_seconds
from tests.support.airflow.stack import StackUnderTest, running_stack
from tests.support.processes import CHECKOUT

from plimsoll.domain.definition import Definition
from plimsoll.domain.timing import Timing
from plimsoll.services.campaign.progress import campaign_progress

_CAMPAIGN = "during-loads"
_STARTED_WITHIN_S = 600.0
# After this time the last tasks have ended, which follow the start of a load.
_SETTLED_S = 15.0


def main() -> None:
    """Print the share of a core, by part, for each number of loads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", type=int, nargs="+", default=[1, 8], help="loads at a time")
    parser.add_argument("--seconds", type=float, default=60, help="how long to measure")
    arguments = parser.parse_args()
    for loads in arguments.loads:
        shares = measure(loads, arguments.seconds)
        by_part = ", ".join(f"{part} {share:.1%}" for part, share in sorted(shares.items()))
        print(f"{loads} loads: {sum(shares.values()):.1%} of a core ({by_part})", flush=True)


def measure(loads: int, seconds: float) -> dict[str, float]:
    """The share of a core by part of Airflow, in a new Airflow that is stopped while its loads still run."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as folder:
        installation = Installation(Path(folder) / "plimsoll")
        definition = installation.define(_definition(loads))
        environment = {**installation.environment, "PYTHONPATH": str(CHECKOUT)}
        with running_stack(Path(folder), env=environment, dag_ids=["instant", "cell"]) as airflow:
            _start(airflow, installation, definition)
            before = cpu_seconds(airflow.stack.home)
            time.sleep(seconds)
            after = cpu_seconds(airflow.stack.home)
    return {part: (after[part] - before[part]) / seconds for part in after}


def _definition(loads: int) -> Definition:
    timing = Timing.model_validate({"duration": "150m", "warmup": "30m"})
    instant = instant_definition("instant", variants=1, loads=loads, parallel=loads, load_s=9000)
    return instant.model_copy(update={"timing": timing})


def _start(airflow: StackUnderTest, installation: Installation, definition: Definition) -> None:
    airflow.client.set_pool("clusters", definition.max_parallel, "How many clusters may live at once")
    airflow.client.unpause(definition.dag_id)
    airflow.client.trigger(definition.dag_id, {"campaign_id": _CAMPAIGN})
    deadline = time.monotonic() + _STARTED_WITHIN_S
    while (running := _running(installation)) < definition.max_parallel:
        if time.monotonic() > deadline:
            raise SystemExit(f"only {running} of {definition.max_parallel} loads run after {_STARTED_WITHIN_S:g} s")
        time.sleep(2)
    time.sleep(_SETTLED_S)


def _running(installation: Installation) -> int:
    toolkit = installation.toolkit
    if not toolkit.store.exists(f"{_CAMPAIGN}/definition.yaml"):
        return 0
    cells = campaign_progress(toolkit.store, _CAMPAIGN, now=toolkit.clock.now()).cells
    return sum(cell.progress is not None and cell.progress.phase == "load" for cell in cells)


if __name__ == "__main__":
    main()
