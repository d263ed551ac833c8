"""A run of Airflow's works at its campaign between two cells, too, and before the first one."""

from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.owners import FixedOwners

from plimsoll.domain.hosts.owner import ProcessOwner, installation_of
from plimsoll.domain.text.errors import Refused
from plimsoll.services.campaign import curating
from plimsoll.services.campaign.curating import deletable
from plimsoll.services.campaign.state.runs import RUNS, Run, begin_run, digest_of, end_run, require_no_other_run
from plimsoll.services.cell.attempts import begin
from plimsoll.services.ownership import held
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll_airflow.runs.ownership import CampaignRunOwner

RUN = CampaignRunOwner("demo", "manual__2026-01-31", "here").token
A, B = (CampaignRunOwner("demo", "m", installation).token for installation in ("a", "b"))
PROCESS = ProcessOwner(host="lab1", boot="b", namespace=1, pid=11, started=5).token
WHO = "Airflow's run manual__2026-01-31 of demo, installation here"
TOLD = rf"campaign 'mine': is being run by {WHO}, since 2026-01-31 12:00 UTC"


@pytest.fixture
def tools(tmp_path: Path, clock: SteppingClock) -> Toolkit:
    tools = replace(Installation(tmp_path).toolkit, clock=clock)
    CampaignStore(tools.store, "mine").open(instant_definition())
    return tools


def of(tools: Toolkit, *, alive: Set[str] = frozenset(), unknown: Set[str] = frozenset()) -> Toolkit:
    return replace(tools, owners=FixedOwners(me=PROCESS, alive=alive, unknown=unknown))


def test_a_run_is_seen_before_its_first_cell_and_until_it_ends(tools: Toolkit) -> None:
    begin_run(of(tools), "mine", RUN, cells=2)
    process = of(tools, unknown={RUN})
    with pytest.raises(Refused, match=TOLD):
        require_no_other_run(process, "mine")
    with pytest.raises(Refused, match=TOLD):
        deletable(process, "mine", "somebody")
    end_run(tools.store, "mine", "another")
    with pytest.raises(Refused, match=r"goes on with --take-over"):
        require_no_other_run(process, "mine")
    end_run(tools.store, "mine", RUN)
    require_no_other_run(process, "mine")


def test_a_run_that_is_known_to_have_ended_or_whose_time_is_over_works_no_more(
    tools: Toolkit, clock: SteppingClock
) -> None:
    begin_run(of(tools), "mine", RUN, cells=1)
    require_no_other_run(of(tools), "mine")
    clock.sleep(timedelta(days=1).total_seconds())
    require_no_other_run(of(tools, unknown={RUN}), "mine")
    with pytest.raises(Refused):
        require_no_other_run(of(tools, alive={RUN}), "mine")


def test_a_run_that_begins_when_a_process_has_taken_the_campaign_is_refused_and_leaves_no_trace(tools: Toolkit) -> None:
    process = of(tools, alive={PROCESS}, unknown={RUN})
    with held(process, "mine"):
        with pytest.raises(Refused, match="is being run by process 11 on lab1"):
            begin_run(process, "mine", RUN, cells=1)
        require_no_other_run(process, "mine")


def test_a_cell_that_is_cleared_after_its_run_had_ended_has_the_run_seen_again(
    tools: Toolkit, clock: SteppingClock
) -> None:
    """`run_cell` says so before it starts the cell; of a run that is still at work it takes no time away."""
    begin_run(of(tools), "mine", RUN, cells=20)
    clock.sleep(60)
    begin_run(of(tools), "mine", RUN, cells=1)
    clock.sleep(4 * 3600)
    with pytest.raises(Refused, match=TOLD):
        require_no_other_run(of(tools, unknown={RUN}), "mine")


@pytest.mark.parametrize("take_over", [False, True])
def test_a_run_that_begins_while_a_deletion_takes_its_hold_is_seen_before_anything_is_deleted(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch, take_over: bool
) -> None:
    @contextmanager
    def late(toolkit: Toolkit, campaign_id: str) -> Iterator[None]:
        begin_run(of(tools), campaign_id, RUN, cells=1)
        with held(toolkit, campaign_id):
            yield

    monkeypatch.setattr(curating, "held", late)
    with pytest.raises(Refused, match=TOLD):
        curating.delete_campaign(of(tools, unknown={RUN}), "mine", "ada", take_over=take_over)
    assert CampaignStore(tools.store, "mine").declared()


def test_taking_over_ends_what_any_run_has_said(tools: Toolkit) -> None:
    begin_run(of(tools), "mine", RUN, cells=1)
    end_run(tools.store, "mine")
    require_no_other_run(of(tools, unknown={RUN}), "mine")


def test_a_campaign_of_an_airflow_that_is_gone_for_good_says_until_when_it_counts_and_how_to_delete_it(
    tools: Toolkit,
) -> None:
    begin_run(of(tools), "mine", RUN, cells=1)
    process = of(tools, alive={PROCESS}, unknown={RUN})
    with pytest.raises(Refused) as refused:
        deletable(process, "mine", "ada")
    [problem] = refused.value.problems
    assert problem.what.endswith(", as far as can be told from here until 2026-01-31 14:15 UTC")
    assert "`plimsoll campaigns delete mine --take-over`" in problem.mend
    assert "plimsoll run" not in problem.mend
    curating.delete_campaign(process, "mine", "ada", take_over=True)
    assert list(tools.store.keys("mine")) == []


def test_a_local_process_at_work_is_not_taken_over(tools: Toolkit) -> None:
    begin(of(tools), "mine", "v1-001k-r1", PROCESS)
    with pytest.raises(Refused, match="is being run by process 11 on lab1"):
        deletable(of(tools, alive={PROCESS}), "mine", "ada", take_over=True)


def test_of_several_runs_of_one_airflow_each_is_seen(tools: Toolkit) -> None:
    other = CampaignRunOwner("demo", "manual__elsewhere", "here").token
    everybody = of(tools, unknown={RUN, other})
    begin_run(everybody, "mine", RUN, cells=2)
    begin_run(everybody, "mine", other, cells=1)
    end_run(tools.store, "mine", other)
    with pytest.raises(Refused, match=TOLD):
        require_no_other_run(everybody, "mine")
    end_run(tools.store, "mine", RUN)
    require_no_other_run(everybody, "mine")


@pytest.mark.parametrize("order", [(A, B), (B, A)])
def test_a_run_is_refused_with_what_to_do_while_one_of_another_airflow_works(
    tools: Toolkit, order: tuple[str, str]
) -> None:
    """Both are runs of the same name, such as by the same schedule."""
    first, second = order
    everybody = of(tools, unknown={A, B})
    begin_run(everybody, "mine", first, cells=2)
    with pytest.raises(Refused, match=rf"run m of demo, installation {installation_of(first)}, since") as refused:
        begin_run(everybody, "mine", second, cells=2)
    [problem] = refused.value.problems
    assert "cancel the campaign on that Airflow's own page" in problem.mend
    assert f"give this one its id, {installation_of(first)}; docs/guides/operations.md says how" in problem.mend
    assert not tools.store.exists(RUNS.key("mine", digest_of(second)))
    begin_run(everybody, "mine", first, cells=1, goes_on=True)
    end_run(tools.store, "mine", first)
    begin_run(everybody, "mine", second, cells=2)


def test_a_run_goes_on_while_one_of_another_airflow_finds_out_that_it_may_not_begin(tools: Toolkit) -> None:
    everybody = of(tools, unknown={A, B})
    begin_run(everybody, "mine", B, cells=2)
    tools.store.write(RUNS.key("mine", digest_of(A)), _said(tools, A))
    begin_run(everybody, "mine", B, cells=1, goes_on=True)
    end_run(tools.store, "mine", B)
    with pytest.raises(Refused):  # a cell that was cleared after its run had ended
        begin_run(everybody, "mine", B, cells=1, goes_on=True)


def test_of_two_runs_that_begin_at_once_one_gives_way_and_the_other_waits_for_that(
    tools: Toolkit, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    everybody, sleep = of(tools, unknown={A, B}), clock.sleep
    tools.store.write(RUNS.key("mine", digest_of(B)), _said(tools, B))

    def gives_way(seconds: float) -> None:
        with pytest.raises(Refused, match="installation a"):
            begin_run(everybody, "mine", B, cells=1)
        sleep(seconds)

    monkeypatch.setattr(clock, "sleep", gives_way)
    begin_run(everybody, "mine", A, cells=1)
    assert clock.naps == 1


def _said(tools: Toolkit, owner: str) -> bytes:
    now = tools.clock.now()
    return Run(owner=owner, since=now, until=now + timedelta(hours=1)).model_dump_json().encode()
