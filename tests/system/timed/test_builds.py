"""A continuous integration sends an event for each build: real campaigns follow, and one notice names the slow build.

The builds are of one release. From the 9th on the compiler of the nodes' JVMs is switched off: a change needs three
campaigns after it. Each is sent once the one before is over, so that the same builds are measured in every run.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.airflow.rest import logged_in, send
from tests.support.airflow.stack import StackUnderTest
from tests.support.processes import CHECKOUT, until
from tests.support.suite.requirements import long

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.services.publish.trends import FIGURES
from plimsoll.settings import Settings

BUILDS, SLOW_FROM = 13, 9
"""A change needs three campaigns on each side, and eight in all."""
END_S = 600.0
DEFINITION = """\
name: builds
title: Build $(build)
label: $(build)
system: {database: cassandra, version: 4.0.1, nodes: 1}
parameters:
  build: {type: text, default: "0"}
  compiler: {type: number, default: 1, at_least: 0, at_most: 1}
variants:
  - id: built
    jvm: {jdk: openjdk-11.0.13, collector: Serial, heap: 512M, flags: ["-XX:TieredStopAtLevel=$(compiler)"]}
loads: [100/s]
workload: {name: BasicTimeSeries, partitions: 1k, populate: 500, consistency: LOCAL_ONE, replication_factor: 1}
load_generator: {threads: 1, concurrency: 20, heap: 256M}
timing: {duration: 24s, warmup: 8s}
service_levels: [{percentile: 50, interval: 4s, below: 1s}]
disturbance: {foreign_cpu: 100%, steal: 100%, throttled: 100%}
provider: {name: local}
trigger: {asset: builds}
notify: [regression, improvement]
"""

pytestmark = [pytest.mark.timeout(3600), long("events are in system/instant, notices in tests/airflow")]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    return ObjectStore(str(tmp_path_factory.mktemp("store")))


@pytest.fixture(scope="module")
def notices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notices") / "told"


@pytest.fixture(scope="module")
def airflow(
    airflow_stack: Callable[..., StackUnderTest],
    tmp_path_factory: pytest.TempPathFactory,
    store: ObjectStore,
    notices: Path,
) -> StackUnderTest:
    campaigns = tmp_path_factory.mktemp("campaigns")
    (campaigns / "builds.yaml").write_text(DEFINITION)
    notifier = {"notifier": "tests.fakes.notifier.ToFile", "path": str(notices), "text": "{{ notice }}"}
    environment = {
        "PLIMSOLL_CAMPAIGNS": str(campaigns),
        "PLIMSOLL_STORE": store.root,
        "PLIMSOLL_CACHE": str(Settings().cache),
        "PLIMSOLL_NOTIFIER": json.dumps(notifier),
        "PYTHONPATH": str(CHECKOUT),  # for the notifier alone
    }
    running = airflow_stack(env=environment, dag_ids=["builds", "cell"])
    running.client.unpause("builds")  # whose DAG is paused at first, and misses events until then
    return running


def test_one_notice_names_the_first_slow_build_and_no_other(
    airflow: StackUnderTest, store: ObjectStore, notices: Path
) -> None:
    with logged_in(airflow) as api:
        for build in range(1, BUILDS + 1):
            send(api, "builds", {"build": str(build), "compiler": 0 if build >= SLOW_FROM else 1})
            until(lambda: len(airflow.client.dag_runs("builds")) == build, "the build's run", patience_s=END_S)  # noqa: B023
            run = airflow.wait_for(airflow.client.dag_runs("builds")[0], timeout_s=END_S)
            assert run.state == "success", build

    figures = [FIGURES.read(store, name) for name in store.folders("")]
    ids = {one.campaign.label: one.campaign.campaign_id for one in figures if one}
    told = notices.read_text()
    assert len(ids) == BUILDS
    assert (told.count("regression: "), "improvement" in told) == (1, False), told
    assert f"between {ids[str(SLOW_FROM - 1)]} and {ids[str(SLOW_FROM)]}" in told
    assert "TieredStopAtLevel" in told
