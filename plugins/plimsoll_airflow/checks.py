"""What an Airflow needs to run campaigns, each point checked on the Airflow of this environment."""

from collections.abc import Iterator, Sequence
from importlib.metadata import distribution, version

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import Finding
from plimsoll.settings import Settings
from plimsoll_airflow.internals import inventory
from plimsoll_airflow.internals.moved import conf
from plimsoll_airflow.runs.ownership import CELL_DAG, CLUSTERS_POOL, REAPER_DAG
from plimsoll_airflow.wiring.core import faults, sound_definitions

TRIED = ("3.1", "3.2", "3.3")
"""The versions of Airflow that the tests were run with."""
TRIGGERS_OF_A_CELL = 2
"""One watches its load, one the run for which its campaign waits."""


def examine() -> Sequence[Finding]:
    """Return all checks, in the order in which a person would mend them. Needs the database of that Airflow."""
    settings = Settings()
    definitions = list(sound_definitions(settings))
    pool = inventory.pool_size(CLUSTERS_POOL)
    slots = pool.slots if pool else 1
    installed = version("apache-airflow")
    mend = f"use {', '.join(TRIED)}: what Plimsoll uses of Airflow may be elsewhere in another version"
    entries = [point.value for point in distribution("plimsoll").entry_points]
    named = [entry for entry in entries if entry.startswith("plimsoll_airflow.")]
    return [
        Finding("Airflow", ".".join(installed.split(".")[:2]) in TRIED, installed, mend),
        Finding("plugin", bool(named), ", ".join(named) or "not installed", "install the wheel with pip"),
        *(_dag(dag_id) for dag_id in (CELL_DAG, REAPER_DAG)),
        _pool(pool),
        _triggerers(slots),
        _map_length(definitions),
        _cell_runs(settings, slots),
        _definitions(settings, definitions),
        *_executor(settings, definitions),
    ]


def _dag(dag_id: str) -> Finding:
    paused = inventory.is_paused(dag_id)
    mend = f"unpause it: airflow dags unpause {dag_id}"
    if paused is None:
        mend = "put `from plimsoll_airflow.dags import make_dags; make_dags()` into a file of the folder of DAGs"
    words = {None: "there is none", True: "paused", False: "unpaused"}
    return Finding(f"DAG {dag_id}", paused is False, words[paused], mend)


def _pool(pool: inventory.PoolSize | None) -> Finding:
    mend = f'airflow pools set --include-deferred {CLUSTERS_POOL} 4 "How many clusters may live at once"'
    if pool is None:
        return Finding(f"pool {CLUSTERS_POOL}", False, "there is none", mend)
    counted = "deferred tasks count" if pool.counts_deferred else "deferred tasks do not count, so it limits nothing"
    is_sound = pool.slots > 0 and pool.counts_deferred
    return Finding(f"pool {CLUSTERS_POOL}", is_sound, f"{pool.slots} slots, {counted}", mend)


def _triggerers(slots: int) -> Finding:
    alive, capacity = inventory.living_triggerers(), conf.getint("triggerer", "capacity")
    needed = TRIGGERS_OF_A_CELL * slots
    mend = f"run triggerers with {needed} triggers together, beside those of other DAGs: [triggerer] capacity"
    return Finding("triggerers", alive * capacity >= needed, f"{alive} alive, {capacity} triggers each", mend)


def _map_length(definitions: Sequence[Definition]) -> Finding:
    most = conf.getint("core", "max_map_length")
    larger = {definition.name: cells for definition in definitions if (cells := resolve(definition).cells) > most}
    named = ", ".join(f"{name} has {cells}" for name, cells in larger.items())
    observed = f"{most} cells in a run" + (f"; {named}" if named else "")
    return Finding("map length", not larger, observed, "raise [core] max_map_length, or leave these definitions out")


def _cell_runs(settings: Settings, slots: int) -> Finding:
    observed = f"{settings.cell_runs} runs of {CELL_DAG} at once, {slots} slots"
    return Finding("runs of cells", settings.cell_runs >= slots, observed, f"set PLIMSOLL_CELL_RUNS={slots} or more")


def _definitions(settings: Settings, definitions: Sequence[Definition]) -> Finding:
    problems = faults(settings)
    names = [definition.name for definition in definitions]
    words = "; ".join(f"{fault.where}: {fault.what}" for fault in problems) or ", ".join(names) or "there are none"
    return Finding("definitions", bool(names) and not problems, words, f"mend the files in {settings.campaigns}")


def _executor(settings: Settings, definitions: Sequence[Definition]) -> Iterator[Finding]:
    """Yield a note where tasks may run on several machines, which do not see one another's processes and folders."""
    executor = conf.get("core", "executor")
    if "LocalExecutor" in executor:
        return
    local = [definition.name for definition in definitions if definition.provider.name == "local"]
    if local:
        mend = "leave them paused or out: each of a cell's tasks must see the processes of the one before"
        yield Finding("provider local", True, f"{executor}, and {', '.join(local)} run locally", mend, is_note=True)
    if "://" not in settings.store:
        mend = "set PLIMSOLL_STORE=s3://bucket/prefix, unless all workers share that folder"
        yield Finding("store", True, f"{executor}, and results in {settings.store}", mend, is_note=True)
