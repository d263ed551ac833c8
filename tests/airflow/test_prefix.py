"""On an Airflow that others use too, the names of all that Plimsoll adds begin with the prefix that is set."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.installation import Installation, instant_definition
from tests.support.processes import CHECKOUT, SOURCES

_NAMES = """
import json
from tests.support.airflow.dag_bag import DagBag
from plimsoll.prefix import name_of_dag
from plimsoll_airflow.plugin import PlimsollPlugin
bag = DagBag(dag_folder="dags", bundle_path="dags", bundle_name="dags-folder")
assert not bag.import_errors, bag.import_errors
mine = bag.dags["bench_mine"]
[app] = PlimsollPlugin.fastapi_apps
print("names:", json.dumps({
    "dags": sorted(bag.dags),
    "pool": mine.get_task("run_cell").partial_kwargs["pool"],
    "asset": [asset.name for asset in mine.get_task("report").outlets],
    "path": app["url_prefix"],
    "routes": sorted(view["url_route"] for view in PlimsollPlugin.external_views),
    "definitions": [name_of_dag("bench_mine_too"), name_of_dag("mine_too")],
}))
"""


def test_every_name_begins_with_the_prefix(installation: Installation) -> None:
    installation.define(instant_definition("mine"))
    environment = os.environ | {"PYTHONPATH": SOURCES, "PLIMSOLL_PREFIX": "bench_"}
    shown = subprocess.run(
        [sys.executable, "-c", _NAMES],
        check=False,
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert shown.returncode == 0, shown.stderr
    [line] = [line for line in shown.stdout.splitlines() if line.startswith("names:")]
    assert json.loads(line.removeprefix("names:")) == {
        "dags": ["bench_cell", "bench_mine", "bench_reaper"],
        "pool": "bench_clusters",
        "asset": ["bench_report-mine"],
        "path": "/bench",
        "routes": ["bench", "bench-run", "bench-trend"],
        "definitions": ["mine-too", ""],
    }


def test_a_prefix_that_no_dag_may_have_is_refused(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": SOURCES, "PLIMSOLL_PREFIX": "Bench/"}
    shown = subprocess.run(
        [sys.executable, "-c", "import plimsoll.prefix"],
        check=False,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "PLIMSOLL_PREFIX: is 'Bench/' (write a small letter" in shown.stderr
