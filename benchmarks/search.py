"""Two searches beside the full grid for real: the same small campaign three times, on nodes of this machine.

    .venv/bin/python -m benchmarks.search [--definition FILE] [--store FOLDER]

Each campaign runs by `plimsoll run`, again while cells are invalid. With the shipped definition all three take an hour
to an hour and a half. Campaigns that are complete in the store do not run again, so with `--store` an interrupted
benchmark goes on. For each the command prints how many cells ran, the time from the beginning to the end of all their
attempts, and the capacities; then what each search finds in the outcomes of the grid. Two campaigns may differ by
chance at the boundary, so the command does not fail where they do, but where a replay of the exact search does.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tests.support.processes import CHECKOUT, PLIMSOLL

from plimsoll.bootstrap import build_store, load_definition
from plimsoll.domain.cell import AttemptKey, cells_by_id
from plimsoll.domain.definition import Definition
from plimsoll.domain.result import Outcome
from plimsoll.domain.strategy import FullGrid, Search, Strategy
from plimsoll.ports.store import ReadableStore
from plimsoll.services.definitions.text import dump_definition
from plimsoll.services.store.campaigns import CampaignStore, campaign_exists, read_attempt, read_progress, read_verdict
from plimsoll.settings import Settings
from plimsoll.strategies.replay import Replay, replay

_STRATEGIES: Mapping[str, Strategy] = {"exact": Search(), "fast": Search(mode="fast", guard=1), "grid": FullGrid()}
_RUNS = 6
_INCOMPLETE = 2  # exit code of `plimsoll run` where cells have no valid attempt
_TIMEOUT_S = 4 * 3600.0


@dataclass(frozen=True)
class Ran:
    """One campaign: outcomes of each cell's attempts in order, and the time from each cell's begin to its end."""

    outcomes: Mapping[str, Sequence[Outcome]]
    took: Mapping[str, timedelta]

    def line(self, cells: Collection[str]) -> str:
        """How many of the campaign's cells these are, and the time of all their attempts."""
        took = sum((self.took[cell] for cell in cells), timedelta())
        attempts = sum(len(self.outcomes[cell]) for cell in cells)
        return f"{len(cells)} of {len(self.took)} cells, {attempts} attempts, {took.total_seconds() / 60:.1f} min"


def main() -> None:
    """Run what has not run yet, and print what each found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--definition", default=str(CHECKOUT / "benchmarks" / "definitions" / "eleven-loads.yaml"))
    parser.add_argument("--store", type=Path, help="a folder to keep; a temporary one unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-search-") as temporary:
        definition = load_definition(Settings(), options.definition)
        _compare(definition, Settings(store=str(options.store or f"{temporary}/store"), work=Path(temporary) / "work"))


def _compare(definition: Definition, settings: Settings) -> None:
    found = {name: _campaign(_with(definition, name), name, settings) for name in _STRATEGIES}
    for name, ran in found.items():
        cells = [cell for cell, outcomes in ran.outcomes.items() if outcomes]
        print(f"{name}: {ran.line(cells)}: {_words(replay(_with(definition, name), ran.outcomes))}", flush=True)
    grid = found["grid"]
    played = {name: replay(_with(definition, name), grid.outcomes) for name in _STRATEGIES}
    for name, one in played.items():
        print(f"{name} over the grid's outcomes: {grid.line(one.ran)}: {_words(one)}")
    same = played["exact"].capacities == played["grid"].capacities
    sys.exit(0 if same else "the exact search finds other capacities in the grid's outcomes")


def _with(definition: Definition, name: str) -> Definition:
    return definition.model_copy(update={"name": f"{definition.name}-{name}", "strategy": _STRATEGIES[name]})


def _campaign(definition: Definition, name: str, settings: Settings) -> Ran:
    """Run the campaign until no cell is invalid, six times at most, and read what came of it."""
    file = settings.work.parent / f"{name}.yaml"
    file.write_text(dump_definition(definition), encoding="utf-8")
    environment = {**os.environ, "PLIMSOLL_STORE": settings.store, "PLIMSOLL_WORK": str(settings.work)}
    for _ in range(_RUNS):
        option = "--campaign" if campaign_exists(build_store(settings), name) else "--new-campaign"
        argv = [PLIMSOLL, "run", str(file), option, name]
        ended = subprocess.run(argv, env=environment, stdout=sys.stderr, timeout=_TIMEOUT_S, check=False)
        if ended.returncode != _INCOMPLETE:
            break
    if ended.returncode:
        raise SystemExit(f"{name}: `plimsoll run` ended with {ended.returncode}")
    return _read(CampaignStore(build_store(settings), name), list(cells_by_id(definition)))


def _read(campaign: CampaignStore, cells: Sequence[str]) -> Ran:
    attempts = {cell: campaign.attempts(cell) for cell in cells}
    return Ran(
        outcomes={
            cell: [one.outcome for key in keys if (one := read_verdict(campaign.store, key))]
            for cell, keys in attempts.items()
        },
        took={cell: sum((_took(campaign.store, key) for key in keys), timedelta()) for cell, keys in attempts.items()},
    )


def _took(store: ReadableStore, key: AttemptKey) -> timedelta:
    begun, progress = read_attempt(store, key), read_progress(store, key)
    return progress.at - begun.started_at if begun and progress else timedelta()


def _words(played: Replay) -> str:
    """Each variant's capacity, such as `g1 found 6,000 ops/s`."""
    return ", ".join(
        f"{variant} {kind}{'' if capacity is None else f' {capacity:,} ops/s'}"
        for variant, (kind, capacity) in played.capacities.items()
    )


if __name__ == "__main__":
    main()
