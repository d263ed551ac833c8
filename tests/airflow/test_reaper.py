"""What the reaper destroys and what it keeps."""

from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

import pytest
from tests.airflow.reaping import DEAD, ELSEWHERE, HERE, LIVE, LiveRuns, alive, reap
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import InstantProvider

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostsSilent
from plimsoll.services.campaign.state.runs import begin_run
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts import kept_hosts
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals.moved import AirflowFailException
from plimsoll_airflow.operators.next_round import run_of_next_round
from plimsoll_airflow.operators.regular import ReapLeftovers, is_owned
from plimsoll_airflow.runs.ownership import CampaignRunOwner, CellRun


class LastTask:
    """Answers as the context of a run's last task does: `next_round` has named a run that follows, which may live.

    The run itself lives, and no run of the DAG `cell` does.
    """

    dag_id, run_id = "instant", "manual__1"

    def __init__(self, follower: str, *, is_followed: bool) -> None:
        self._follower, self._live = follower, {self.run_id, *([follower] if is_followed else [])}

    def xcom_pull(self, task_ids: str, key: str) -> str:
        return {("plan", "campaign_id"): "campaign", ("next_round", "trigger_run_id"): self._follower}[task_ids, key]

    def get_dr_count(self, dag_id: str, run_ids: list[str], states: list[str]) -> int:
        assert states == ["queued", "running"]
        return sum(dag_id == "instant" and run_id in self._live for run_id in run_ids)


@pytest.fixture
def clusters(installation: Installation) -> Installation:
    """Provide a cluster of a live run and one of a run that has ended."""
    installation.open_campaign(instant_definition())
    for cell_id, run in (("v1-001k-r1", LIVE), ("v2-001k-r1", DEAD)):
        actions.provision(begin(installation.toolkit, "campaign", cell_id, run.token))
    return installation


def test_clusters_of_runs_that_have_ended_are_destroyed(clusters: Installation) -> None:
    assert reap() == {"destroyed": ["campaign/v2-001k-r1/1"], "kept": ["campaign/v1-001k-r1/1"]}
    assert alive(clusters) == ["campaign/v1-001k-r1/1"]


def test_of_a_campaign_that_is_named_every_cluster_is_destroyed_and_no_other(clusters: Installation) -> None:
    clusters.open_campaign(instant_definition(), "other")
    actions.provision(begin(clusters.toolkit, "other", "v1-001k-r1", DEAD.token))

    assert reap(campaign_id="campaign")["destroyed"] == ["campaign/v1-001k-r1/1", "campaign/v2-001k-r1/1"]
    assert alive(clusters) == ["other/v1-001k-r1/1"]


def test_a_dry_run_destroys_nothing(clusters: Installation) -> None:
    assert reap(dry_run=True)["destroyed"] == ["campaign/v2-001k-r1/1"]
    assert len(alive(clusters)) == 2


def test_a_cluster_that_resists_fails_the_task_and_keeps_no_other_alive(clusters: Installation) -> None:
    actions.provision(begin(clusters.toolkit, "campaign", "v2-002k-r1", DEAD.token))
    clusters.faults.plant("v2-001k-r1", "destroy")

    with pytest.raises(AirflowFailException, match=r"campaign/v2-001k-r1/1: .*was told to resist"):
        reap()
    assert alive(clusters) == ["campaign/v1-001k-r1/1", "campaign/v2-001k-r1/1"]


def test_hosts_that_can_not_be_asked_are_in_the_log_and_fail_nothing(
    clusters: Installation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = InstantProvider.clusters

    def silent(self: InstantProvider) -> NoReturn:
        raise HostsSilent("group rack1 can't be asked", known(self))

    monkeypatch.setattr(InstantProvider, "clusters", silent)
    assert reap()["destroyed"] == ["campaign/v2-001k-r1/1"]
    assert "group rack1 can't be asked" in capsys.readouterr().out


def test_nothing_alive_is_fine(installation: Installation) -> None:
    assert reap() == {"destroyed": [], "kept": []}


def test_clusters_of_the_command_line_are_its_own_until_they_expire(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    cluster = actions.provision(begin(installation.toolkit, "campaign", "v1-001k-r1", "cli-4711"))
    ti: Any = LiveRuns()

    assert is_owned(cluster, ti, datetime.now(UTC), HERE)
    assert not is_owned(cluster, ti, cluster.expires_at + timedelta(seconds=1), HERE)


def test_clusters_of_another_airflow_are_its_own_until_they_expire(installation: Installation) -> None:
    """Its run has the id of one that has ended here."""
    installation.open_campaign(instant_definition())
    cluster = actions.provision(begin(installation.toolkit, "campaign", "v1-001k-r1", ELSEWHERE.token))

    assert reap() == {"destroyed": [], "kept": ["campaign/v1-001k-r1/1"]}
    ti: Any = LiveRuns()
    assert not is_owned(cluster, ti, cluster.expires_at + timedelta(seconds=1), HERE)


def test_clusters_of_an_earlier_version_which_did_not_say_whose_they_are_are_this_airflows(
    installation: Installation,
) -> None:
    installation.open_campaign(instant_definition())
    for cell_id, run_id in (("v1-001k-r1", "live"), ("v2-001k-r1", "dead")):
        actions.provision(begin(installation.toolkit, "campaign", cell_id, f"airflow:{run_id}#0@here"))

    assert reap() == {"destroyed": ["campaign/v2-001k-r1/1"], "kept": ["campaign/v1-001k-r1/1"]}


def test_clusters_of_another_airflow_are_destroyed_where_their_campaign_is_named(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    actions.provision(begin(installation.toolkit, "campaign", "v1-001k-r1", ELSEWHERE.token))

    assert reap(campaign_id="campaign")["destroyed"] == ["campaign/v1-001k-r1/1"]


def test_kept_hosts_are_the_campaigns_between_its_cells(installation: Installation) -> None:
    cluster = left_by_its_last_cell(installation)
    begin_run(installation.toolkit, "campaign", CampaignRunOwner("instant", "manual__1", HERE).token, 1)
    going_on: Any = LiveRuns("manual__1")
    over: Any = LiveRuns()
    now = datetime.now(UTC)

    assert is_owned(cluster, going_on, now, HERE)
    assert not is_owned(cluster, going_on, now, HERE, ended="campaign")
    assert not is_owned(cluster, going_on, cluster.expires_at + timedelta(seconds=1), HERE)
    assert not is_owned(cluster, over, now, HERE)
    assert not is_owned(cluster.model_copy(update={"id": ClusterId.parse("lost/hosts/1")}), going_on, now, HERE)
    of_live_run = cluster.model_copy(update={"owner": LIVE.token})
    assert is_owned(of_live_run, over, now, HERE, ended="campaign")


def test_kept_hosts_are_their_campaigns_before_the_run_of_its_next_round_has_begun(installation: Installation) -> None:
    cluster = left_by_its_last_cell(installation)
    queued: Any = LiveRuns(run_of_next_round(CampaignStore(installation.toolkit.store, "campaign")))
    assert is_owned(cluster, queued, datetime.now(UTC), HERE)


@pytest.mark.parametrize(("campaign_id", "airflow"), [("other", HERE), ("campaign", "elsewhere")])
def test_kept_hosts_are_not_those_of_another_campaign_of_the_definition_nor_of_another_airflows_run(
    installation: Installation, campaign_id: str, airflow: str
) -> None:
    """Both runs have the id of one that lives here."""
    cluster = left_by_its_last_cell(installation)
    installation.open_campaign(instant_definition(), "other")
    begin_run(installation.toolkit, campaign_id, CampaignRunOwner("instant", "manual__1", airflow).token, 1)
    of_the_other: Any = LiveRuns("manual__1")
    assert not is_owned(cluster, of_the_other, datetime.now(UTC), HERE)


def left_by_its_last_cell(installation: Installation) -> Cluster:
    """Return kept hosts of a campaign whose last cell's run has ended."""
    plain = instant_definition(variants=1, parallel=1)
    installation.open_campaign(plain.model_copy(update={"cluster_scope": "campaign"}))
    return actions.provision(begin(installation.toolkit, "campaign", "v1-001k-r1", DEAD.token))


@pytest.mark.parametrize("is_followed", [True, False])
def test_kept_hosts_live_on_at_a_runs_end_only_where_the_run_that_was_to_follow_it_is_there(
    installation: Installation, *, is_followed: bool
) -> None:
    left_by_its_last_cell(installation)
    follower = run_of_next_round(CampaignStore(installation.toolkit.store, "campaign"))
    context: Any = {"ti": LastTask(follower, is_followed=is_followed)}

    ReapLeftovers(task_id="reap").execute(context)

    assert alive(installation) == (["campaign/hosts/1"] if is_followed else [])


@pytest.mark.parametrize("user", [LIVE, ELSEWHERE])
def test_kept_hosts_are_also_of_the_run_that_was_given_them_and_is_not_named_on_them_yet(
    installation: Installation, user: CellRun
) -> None:
    definition = instant_definition(variants=1, parallel=1).model_copy(update={"cluster_scope": "campaign"})
    installation.open_campaign(definition)
    first = begin(installation.toolkit, "campaign", "v1-001k-r1", DEAD.token)
    cluster = actions.provision(first)
    actions.destroy(first)
    nobody: Any = LiveRuns()
    assert not is_owned(cluster, nobody, datetime.now(UTC), HERE)
    attempt = begin(installation.toolkit, "campaign", "v1-002k-r1", user.token).attempt()
    kept_hosts.take(installation.toolkit, resolve(definition), attempt, cluster.expires_at)
    assert is_owned(cluster, nobody, datetime.now(UTC), HERE)
