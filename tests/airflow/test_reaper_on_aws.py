"""The reaper through its DAG, on a test cloud: what a dead cell left goes, and nothing else."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from airflow.models.dagrun import DagRun
from airflow.utils.state import DagRunState
from botocore.config import Config
from tests.airflow.reaping import LiveRuns
from tests.cloud.cloud import REGION, Cloud, running_cloud
from tests.cloud.faults import Deny, Fault, Throttle
from tests.cloud.lifecycle import Delays
from tests.support.airflow.dag_bag import DagBag
from tests.support.campaigns.ec2_definition import ec2_definition
from tests.support.cloud.resources import census, leave, make_one_of_each

from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.services.hosts.spending import ledger
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals import aws
from plimsoll_airflow.internals.moved import AirflowFailException
from plimsoll_airflow.operators.regular import Reap
from plimsoll_airflow.runs.ownership import CellRun
from plimsoll_airflow.wiring.core import toolkit

DAGS = Path(__file__).resolve().parents[2] / "dags"
DEAD = ClusterId(campaign_id="azul", name="g1-020k-r1/1")
ALSO_DEAD = DEAD.model_copy(update={"name": "g1-040k-r1/1"})
LIVING = DEAD.model_copy(update={"name": "g1-060k-r1/1"})
KINDS = ["instances", "volumes", "interfaces", "placement"]


@dataclass(frozen=True)
class Account:
    """A cloud, its store's URL, and a client that asks it past all faults that tests plant for others."""

    cloud: Cloud
    store: str
    ec2: Any

    def left(self, before: dict[str, list[str]]) -> dict[str, list[str]]:
        """Return what exists now and did not then."""
        now = census(self.ec2)
        return {
            kind: sorted(set(now[kind]) - set(before[kind])) for kind in KINDS if set(now[kind]) - set(before[kind])
        }


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Account]:
    """Provide a campaign of a definition for EC2 in an S3 store, as Airflow's processes see it; no cell was run."""
    with running_cloud("instant", delays=Delays(pending=0, status=0, shutting_down=0)) as cloud:
        store = f"s3://{cloud.landscape.bucket}/runs"
        connection = {"endpoint_url": cloud.endpoint, "region_name": REGION}
        environment = {
            "PLIMSOLL_STORE": store,
            "PLIMSOLL_WORK": str(tmp_path / "work"),
            "PLIMSOLL_CACHE": str(tmp_path / "cache"),
            # A run of a DAG writes all DAGs into the database; other tests have definitions of the same names there.
            "PLIMSOLL_CAMPAIGNS": str(tmp_path / "campaigns"),
            "AIRFLOW_CONN_AWS_DEFAULT": json.dumps(
                {"conn_type": "aws", "login": "testing", "password": "testing", "extra": connection}
            ),
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        # Throttled calls fail at once instead of after minutes.
        once = Config(retries={"mode": "standard", "total_max_attempts": 1})
        monkeypatch.setattr(aws, "CONFIG", aws.CONFIG.merge(once))
        CampaignStore(toolkit().store, "azul").open(ec2_definition(cloud.landscape))
        client = boto3.client(
            "ec2", REGION, endpoint_url=cloud.endpoint, aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        yield Account(cloud, store, client)


def reap(*, dry_run: bool = False) -> dict[str, list[str]]:
    context: Any = {"ti": LiveRuns(), "params": {"dry_run": dry_run}}
    return Reap(task_id="reap").execute(context)


def run_dag(**params: Any) -> DagRun:
    dag = DagBag(dag_folder=str(DAGS / "reaper.py"), bundle_path=DAGS, bundle_name="dags-folder").dags["reaper"]
    ended = dag.test(run_conf=params)
    assert isinstance(ended, DagRun)
    return ended


@pytest.fixture
def live_run(database: None) -> Iterator[str]:
    """Provide a run of the DAG `cell` in Airflow's database that has not ended; its id."""
    from airflow.utils.session import create_session

    now = datetime.now(UTC)
    with create_session() as session:
        run = DagRun(
            dag_id="cell", run_id="azul__g1-060k-r1", run_type="manual", run_after=now, state=DagRunState.RUNNING
        )
        session.add(run)
    yield "azul__g1-060k-r1"
    with create_session() as session:
        session.delete(run)


@pytest.mark.usefixtures("database")
def test_the_dag_destroys_what_a_dead_cell_left_of_every_kind_and_nothing_else(account: Account, live_run: str) -> None:
    before = census(account.ec2)
    leave(account.ec2, account.store, DEAD, CellRun("azul__g1-020k-r1", 0, "here").token)
    dead = account.left(before)
    assert list(dead) == KINDS
    with_dead = census(account.ec2)
    leave(account.ec2, account.store, LIVING, CellRun(live_run, 0, "here").token)
    leave(account.ec2, "s3://somebody-else/runs", DEAD, "theirs")
    make_one_of_each(account.ec2, "untagged")
    others = account.left(with_dead)

    dry = run_dag(dry_run=True)
    assert str(dry.state) == "success"
    assert account.left(before) == {kind: sorted(dead[kind] + others[kind]) for kind in KINDS}

    ended = run_dag()
    assert str(ended.state) == "success"
    assert account.left(before) == others


def test_a_dry_run_names_every_resource(account: Account, capsys: pytest.CaptureFixture[str]) -> None:
    before = census(account.ec2)
    leave(account.ec2, account.store, DEAD, "airflow:dead#0@here")
    dead = account.left(before)
    assert reap(dry_run=True) == {"destroyed": [str(DEAD)], "kept": []}
    log = capsys.readouterr().out
    assert f"would destroy {DEAD} of airflow:dead#0@here" in log
    for found in dead.values():
        for one in found:
            assert one in log
    assert account.left(before) == dead


@pytest.mark.parametrize(
    ("fault", "stays", "message"),
    [
        (Deny(action="DeletePlacementGroup"), ["placement"], "allow the action ec2:DeletePlacementGroup"),
        (Deny(action="DescribePlacementGroups"), ["placement"], "allow the action ec2:DescribePlacementGroups"),
        (
            Deny(action="TerminateInstances"),
            ["instances", "volumes", "interfaces"],
            "allow the action ec2:TerminateInstances",
        ),
        (Throttle(action="DescribeVolumes", times=1), [], "DescribeVolumes was refused"),
    ],
)
def test_what_aws_refuses_is_said_and_everything_else_goes(
    account: Account, fault: Fault, stays: list[str], message: str
) -> None:
    before = census(account.ec2)
    for key in (DEAD, ALSO_DEAD):
        leave(account.ec2, account.store, key, "airflow:dead#0@here")
    account.cloud.fault(fault)
    with pytest.raises(AirflowFailException, match=message):
        reap()
    account.cloud.clear()
    left = account.left(before)
    assert {kind: len(ids) for kind, ids in left.items()} == dict.fromkeys(stays, 2)

    reap()  # the next hour's pass
    assert account.left(before) == {}


def test_what_it_destroys_is_accounted_for_and_told(
    account: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notifier = {"notifier": "tests.fakes.notifier.ToFile", "path": str(tmp_path / "told"), "text": "{{ notice }}"}
    monkeypatch.setenv("PLIMSOLL_NOTIFIER", json.dumps(notifier))
    leave(account.ec2, account.store, DEAD, "airflow:dead#0@here")
    assert reap()["destroyed"] == [str(DEAD)]
    notice = (tmp_path / "told").read_text()
    assert f"destroyed {DEAD} of airflow:dead#0@here" in notice
    assert "placement group left-" in notice
    (entry,) = ledger(CampaignStore(toolkit().store, "azul"), datetime.now(UTC))
    assert (str(entry.key), entry.final) == (str(DEAD), True)
