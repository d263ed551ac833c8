"""The response time of the matrix of 275 cells with 40 such campaigns in the store and 20 viewers.

    .venv/bin/python -m benchmarks.pages [--campaigns N] [--viewers N] [--seconds S] [--repeats N]

A real api-server on PostgreSQL answers. Each viewer does what the page's script does: it asks for changes every three
seconds. One of the campaign's cells runs and its progress changes every second, so there is always a change. The login
of each request is checked. Other work on the same machine makes the figures worse.
"""

import argparse
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import httpx
import numpy as np
from tests.fakes.installation import Installation
from tests.support.airflow.stack import StackUnderTest, running_stack
from tests.support.campaigns.stored import store_begun, store_campaign
from tests.support.campaigns.synthetic import AZUL_CAPACITIES, Plan, azul_definition
from tests.support.processes import CHECKOUT

from plimsoll.services.campaign.show.progress import record_totals
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

_POLL_S = 3.0
_WATCHED, _RUNNING = "azul-2022-watched", "g1-040k-r3"


def main() -> None:
    """Print median, 95th percentile and maximum of each page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=40)
    parser.add_argument("--viewers", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=5, help="of 55 cells each, in every campaign")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as folder:
        installation = Installation(Path(folder) / "plimsoll")
        (installation.folder / "campaigns").mkdir(parents=True)
        fill(installation, arguments.campaigns, arguments.repeats)
        paths = [str(CHECKOUT), str(CHECKOUT / "include"), str(CHECKOUT / "plugins")]
        environment = {**installation.environment, "PYTHONPATH": ":".join(paths)}
        with running_stack(Path(folder), env=environment, dag_ids=["cell"]) as airflow:
            measure(airflow, installation, arguments.viewers, arguments.seconds)


def fill(installation: Installation, campaigns: int, repeats: int) -> None:
    """Store that many campaigns of 55 × `repeats` cells. One of them runs, the others are complete and settled."""
    store, now = installation.toolkit.store, installation.toolkit.clock.now()
    definition = azul_definition(repeats=repeats)
    store_campaign(store, definition, _WATCHED, Plan(AZUL_CAPACITIES), now)
    root = installation.folder / "store"
    for number in range(1, campaigns):
        # The campaigns are copies of the same files, because only their number matters.
        name = f"azul-2022-{number:03d}"
        shutil.copytree(root / _WATCHED, root / name, copy_function=os.link)
        record_totals(CampaignStore(store, name), now)
    store.delete(layout.ATTEMPTS.folder(_WATCHED, _RUNNING))


def measure(airflow: StackUnderTest, installation: Installation, viewers: int, seconds: float) -> None:
    """Request the pages, and print their response times."""
    place = f"/plimsoll/campaigns/{_WATCHED}"
    with closing(_viewer(airflow)) as one:
        _ask(one, "matrix", place)
    with _Progress(installation), ThreadPoolExecutor(viewers) as pool:
        watches = [pool.submit(_watch, airflow, f"{place}/matrix", seconds, n / viewers) for n in range(viewers)]
        times = [took for watch in watches for took in watch.result()]
    _print(f"matrix, {viewers} viewers", times)
    with closing(_viewer(airflow)) as one:
        _ask(one, "campaigns", "/plimsoll/")


def _ask(http: httpx.Client, name: str, path: str) -> None:
    _print(f"{name}, first", [_timed(http, path)])
    _print(f"{name}, alone", [_timed(http, path) for _ in range(20)])


def _watch(airflow: StackUnderTest, path: str, seconds: float, offset: float) -> Sequence[float]:
    """Return the response times for one viewer, s."""
    times, etag = [], ""
    time.sleep(offset * _POLL_S)
    deadline = time.monotonic() + seconds
    with closing(_viewer(airflow)) as http:
        while time.monotonic() < deadline:
            began = time.perf_counter()
            answer = http.get(path, headers={"If-None-Match": etag})
            times.append(time.perf_counter() - began)
            assert answer.status_code in (200, 304), answer.text
            etag = answer.headers["ETag"]
            time.sleep(_POLL_S)
    return times


def _viewer(airflow: StackUnderTest) -> httpx.Client:
    http = httpx.Client(base_url=f"http://127.0.0.1:{airflow.running.port}", timeout=300, trust_env=False)
    login = {"username": "admin", "password": airflow.stack.home.password_of("admin")}
    http.cookies.set("_token", http.post("/auth/token", json=login).raise_for_status().json()["access_token"])
    return http


def _timed(http: httpx.Client, path: str) -> float:
    began = time.perf_counter()
    http.get(path).raise_for_status()
    return time.perf_counter() - began


class _Progress:
    """Changes the progress of a running cell every second."""

    def __init__(self, installation: Installation) -> None:
        self._store, self._clock = installation.toolkit.store, installation.toolkit.clock
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _go_on(self) -> None:
        key, began = CampaignStore(self._store, _WATCHED).key(_RUNNING, 1), self._clock.now()
        while not self._over.wait(1.0):
            left = timedelta(minutes=150) - (self._clock.now() - began)
            store_begun(self._store, key, began, "load", seconds_left=left.total_seconds())


def _print(what: str, times: Sequence[float]) -> None:
    low, high, most = np.percentile(times, [50, 95, 100]) * 1000
    print(f"{what}: median {low:.0f} ms, p95 {high:.0f} ms, highest {most:.0f} ms of {len(times)}", flush=True)


if __name__ == "__main__":
    main()
