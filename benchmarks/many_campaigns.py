"""What the list of campaigns, a pass of the reaper and a trend read of a store, on disk and on S3: of few and of many.

    .venv/bin/python -m benchmarks.many_campaigns [--campaigns N] [--fewer N]

S3 is moto's, in this process: its requests are counted, and its times say nothing. All campaigns are complete and have
a report. *first*: nothing is known yet. *changed*: one more campaign has begun. The command fails if the list on disk
takes 300 ms (95th percentile), or if a later pass of the reaper, or a later trend, over many asks more than one over
few, apart from the pages of listings, which have 1,000 names each. The trend's campaigns are recorded figures alone.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.stored import store_campaign
from tests.support.campaigns.synthetic import Plan
from tests.support.campaigns.trend import BEGAN, store_trend, worst
from tests.support.stores.s3 import running_s3

from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.show.progress import record_totals
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.places import StoredPlaces
from plimsoll.services.hosts.reaping import reap
from plimsoll.services.publish.trends import stored_trend
from plimsoll.services.retries import Outage
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.judged import unmark_in_trends
from plimsoll.services.store.layout import report_key
from plimsoll.services.toolkit import Toolkit
from plimsoll_airflow.web.library import Library

_DEFINITION = instant_definition("demo", variants=1, loads=1)
_ASKS = ("exists", "read", "keys", "folders", "stamped", "write", "create", "delete", "listed")
_HIGHEST_P95_S = 0.3
_PAGES = 12
"""How many listings of a pass may have another page for each 1,000 names."""


@dataclass
class _Counted:
    """The methods of a store, counted: what a folder is asked for."""

    store: Any
    asked: int = 0

    def __getattr__(self, name: str) -> Any:
        self.asked += name in _ASKS
        return getattr(self.store, name)


@dataclass(frozen=True)
class _Place:
    """A filled store. `asked` returns what it was asked for so far."""

    name: str
    store: ResultStore
    asked: Callable[[], int]


def main() -> None:
    """Print a row for each look, with what the store was asked for and how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=1_000)
    parser.add_argument("--fewer", type=int, default=100)
    options = parser.parse_args()
    failed, later = list[str](), dict[tuple[str, str, int], int]()
    for number in (options.fewer, options.campaigns):
        with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as folder:
            installation = Installation(Path(folder))
            for place in _places(installation):
                _fill(installation, place.store, number)
                p95_s = _measure_list(place, installation.toolkit, number)
                later["pass", place.name, number] = _measure_reaper(place, installation.toolkit, number)
                later["trend", place.name, number] = _measure_trend(place, number)
                if place.name == "disk" and p95_s > _HIGHEST_P95_S:
                    failed.append(f"the list of {number} campaigns takes {p95_s:.2f} s")
    for what, name in product(("pass", "trend"), ("disk", "S3")):
        few, many = later[what, name, options.fewer], later[what, name, options.campaigns]
        if many > few + _PAGES * (options.campaigns // 1_000):
            failed.append(f"a later {what} over {options.campaigns} campaigns on {name} asks {many} times, not {few}")
    sys.exit("; ".join(failed) or 0)


def _places(installation: Installation) -> Iterator[_Place]:
    on_disk = _Counted(installation.toolkit.store)
    yield _Place("disk", on_disk, lambda: on_disk.asked)
    with running_s3() as service:
        yield _Place("S3", service.store(), lambda: len(service.requests))


def _fill(installation: Installation, store: ResultStore, number: int) -> None:
    """Store complete campaigns: copies of one, because only their number matters."""
    now = installation.toolkit.clock.now()
    first = store_campaign(store, _DEFINITION, "demo-0", Plan({"v1": 1_000}), now)
    store.write(report_key("demo-0"), b"<!DOCTYPE html>")
    files = {key.removeprefix("demo-0/"): store.read(key) for key in store.keys("demo-0")}
    for other in range(1, number):
        for name, content in files.items():
            store.write(f"demo-{other}/{name}", content)
        record_totals(CampaignStore(store, f"demo-{other}"), now)
    record_totals(first, now)


def _measure_list(place: _Place, tools: Toolkit, number: int) -> float:
    """Return the 95th percentile of the list's time once it was read, s."""
    library = Library(place.store, tools.clock)
    with _row(place, number, "list, first"):
        library.campaigns()
    with _row(place, number, "list, then"):
        library.campaigns()
    times = []
    for _ in range(40):
        begun = time.perf_counter()
        assert len(library.campaigns()) == number
        times.append(time.perf_counter() - begun)
    p95_s = float(np.percentile(times, 95))
    print(f"{place.name:5} {number:6,} list, p95: {p95_s * 1000:.0f} ms", flush=True)
    return p95_s


def _measure_reaper(place: _Place, tools: Toolkit, number: int) -> int:
    """Return how often a pass asks that comes after another one, once one more campaign has begun."""
    installed = replace(tools, store=place.store, tariffs={"ec2": None})  # type: ignore[dict-item]  # no host is priced

    def look(name: str) -> int:
        """Let a process of its own, which remembers nothing, make the pass."""
        places = StoredPlaces(place.store, Outage(tools.clock))
        with _row(place, number, f"reaper, {name}") as asked:
            reaped = reap(replace(installed, places=places), lambda _: True)
        assert not reaped.troubles, reaped.troubles
        return asked()

    look("first")
    look("then")
    CampaignStore(place.store, "demo-more").open(_DEFINITION)
    begin(replace(installed, tariffs={}), "demo-more", "v1-001k-r1", "me")
    return look("changed")


def _measure_trend(place: _Place, number: int) -> int:
    """Return how often a trend asks that comes after another one, once one campaign was published anew."""

    def look(name: str) -> int:
        with _row(place, number, f"trend, {name}") as asked:
            found = stored_trend(place.store, ["nightly"], "date", BEGAN)
        assert len(found.campaigns) == number
        return asked()

    store_trend(place.store, {worst("v1"): [(5.0, number)]})
    look("first")
    look("then")
    unmark_in_trends(place.store, "nightly-1")
    return look("changed")


@contextmanager
def _row(place: _Place, number: int, what: str) -> Iterator[Callable[[], int]]:
    before, begun, cpu = place.asked(), time.perf_counter(), time.process_time()
    after = list[int]()
    yield lambda: after[0] - before
    after.append(place.asked())
    took, took_cpu = time.perf_counter() - begun, time.process_time() - cpu
    print(
        f"{place.name:5} {number:6,} {what:16} {after[0] - before:7,} asked, {took:.2f} s, {took_cpu:.2f} CPU s",
        flush=True,
    )


if __name__ == "__main__":
    main()
