"""Campaigns as people run them, in a real browser on a real Airflow: from the form to the report, and cells run again.

Clusters are instant, with gates: a cell whose gate is closed stays under load for as long as somebody wants to look.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, Response, expect
from tests.fakes.gated import LOADING, Gates
from tests.fakes.installation import Installation
from tests.support.airflow.stack import StackUnderTest
from tests.support.browser.chromium import CHROMIUM, let_in, logged_in
from tests.support.processes import until
from tests.support.suite.requirements import long, needs
from tests.system.instant.definitions import DEFINITIONS

from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest
from plimsoll_airflow.local.client import DagRun
from plimsoll_airflow.runs.ownership import CellRun, CellRunId

CALM = DEFINITIONS["calm"]
MET, MISSED, INVALID, FAILED = "v1-001k-r1", "v1-002k-r1", "v2-001k-r1", "v2-002k-r1"
END_S = 600.0

pytestmark = [
    pytest.mark.timeout(1200),
    needs(CHROMIUM is not None, "the browser is chromium"),
]


@pytest.fixture(scope="module")
def airflow(shared_airflow: StackUnderTest, installation: Installation) -> Iterator[StackUnderTest]:
    with installation.faults.planted(MISSED, "slow"), installation.faults.planted(INVALID, "down"):
        shared_airflow.client.set_pool("clusters", 8, "How many clusters may live at once")
        yield shared_airflow


@pytest.fixture(scope="module")
def stormy(airflow: StackUnderTest, installation: Installation, gates: Gates) -> None:
    """Have a campaign under way whose last cell stays under load."""
    gates.close(f"stormy~{FAILED}", LOADING)
    airflow.client.unpause("storm")
    airflow.client.trigger("storm", {"campaign_id": "stormy"})
    await_opened(installation, "stormy")


@pytest.fixture(scope="module")
def ada(browser: Browser, airflow: StackUnderTest) -> Page:
    """Provide the page of somebody who may trigger DAGs."""
    return logged_in(browser, airflow, "ada")


@pytest.fixture
def vera(browser: Browser, airflow: StackUnderTest) -> Iterator[Page]:
    """Provide the page of somebody who may only look."""
    page = let_in(browser, airflow, "vera")
    yield page
    page.context.close()


def test_a_campaign_from_the_form_to_its_report(ada: Page, airflow: StackUnderTest, gates: Gates) -> None:
    gates.close(f"maiden-voyage~{MISSED}", LOADING)

    ada.goto("/dags/calm")
    unpaused = ada.get_by_role("heading").get_by_role("checkbox")
    expect(unpaused).not_to_be_checked()
    expect(ada.get_by_role("link", name="instant", exact=True)).to_be_visible()
    ada.get_by_role("button", name="Dag Docs").click()
    expect(ada.get_by_role("dialog")).to_contain_text("2 cells: 1 variant × 2 load levels")
    ada.keyboard.press("Escape")
    # What is seen of the checkbox is its label: it can be clicked once the dialog's veil has gone.
    unpaused.locator("xpath=ancestor::label").click()
    until(lambda: is_unpaused(airflow, "calm"), "the DAG to be unpaused", patience_s=END_S)

    ada.get_by_role("button", name="Trigger Dag").click()
    form = ada.get_by_role("dialog")
    expect(form.get_by_role("spinbutton", name="Cells at a time")).to_have_value("4")
    form.get_by_role("group").filter(has_text="Any other id: a new").get_by_role("textbox").fill("maiden-voyage")
    form.get_by_role("button", name="Trigger").click()
    (run,) = until(lambda: airflow.client.dag_runs("calm"), "the run", patience_s=END_S)

    # The page goes on to the run by itself. Only now does it ask again for certain whether the DAG is paused: when that
    # was changed, Airflow answered before it committed.
    expect(ada).to_have_url(re.compile("/dags/calm/runs/manual__"))
    tab = ada.get_by_role("link", name="Campaign", exact=True)
    # Only a run's page has that tab. Until it is drawn there are two such checkboxes, the DAG's own page has one more.
    expect(tab).to_be_visible()
    expect(ada.get_by_test_id("toggle-pause").get_by_role("checkbox")).to_be_checked()
    # Not waiting for `plan` to create the campaign: until then the tab says so, and then it shows the matrix by itself.
    tab.click()
    page = ada.frame_locator("iframe")
    expect(square(page, MET, "met")).to_be_visible()
    expect(square(page, MISSED, "running; .*load")).to_be_visible()
    gates.open(f"maiden-voyage~{MISSED}", LOADING)
    expect(square(page, MISSED, "missed; worst interval 400 ms, 4 times the bound")).to_be_visible()
    expect(page.locator(".state.complete")).to_be_visible()

    assert airflow.wait_for(run, timeout_s=END_S).state == "success"
    page.get_by_role("link", name="Capacity so far").click()
    expect(page.get_by_role("row", name="v1").first).to_contain_text("1,000 ops/s")
    expect(page.get_by_role("link", name="report.json")).to_be_visible()
    expect(page.frame_locator("iframe").get_by_role("heading", level=1)).to_have_text(CALM.title)


@long("a failed cell alone runs again by a request as the page sends it")
@pytest.mark.usefixtures("stormy")
def test_only_the_cells_asked_for_run_again(
    ada: Page, airflow: StackUnderTest, installation: Installation, gates: Gates
) -> None:
    (first,) = airflow.client.dag_runs("storm")
    ada.goto("/plimsoll/campaigns/stormy")
    for cell, state in ((MET, "met"), (MISSED, "missed"), (INVALID, "invalid"), (FAILED, "running; .*load")):
        expect(square(ada, cell, state)).to_be_visible()
    gates.close(f"stormy~{FAILED}", "destroy")
    ada.get_by_role("link", name="Cancel…").click()
    question = ada.get_by_role("dialog", name="Cancel the campaign?")
    expect(question).to_contain_text(f"{FAILED}, attempt 1: load")
    expect(question).to_contain_text(f"storm: {first.run_id}")
    question.get_by_role("button", name="Cancel the campaign").click()
    expect(square(ada, FAILED, "failed; .*cancelled by ada")).to_be_visible()
    assert airflow.wait_for(first, timeout_s=END_S).state == "failed"
    before = installation.files("stormy")
    gates.open(f"stormy~{FAILED}", LOADING)

    ada.get_by_role("checkbox", name=f"Select {FAILED}").check()
    ada.get_by_role("button", name="Run selected again").click()
    expect(ada.get_by_text("Asked for:")).to_be_visible()
    second = next(run for run in airflow.client.dag_runs("storm") if run.run_id != first.run_id)
    # The cancelled attempt's cluster is still being destroyed.
    until(lambda: is_waiting(airflow, second), "the cell's turn", patience_s=END_S)
    gates.open(f"stormy~{FAILED}", "destroy")
    expect(square(ada, FAILED, "met; .*attempt 2 of 2")).to_be_visible()

    assert airflow.wait_for(second, timeout_s=END_S).state == "success"  # the one cell that it was asked for is valid
    assert installation.attempts("stormy") == {MET: [1], MISSED: [1], INVALID: [1], FAILED: [1, 2]}

    installation.faults.heal(INVALID)
    ada.goto(f"/dags/storm/runs/{first.run_id}/tasks/run_cell/mapped")
    ada.get_by_role("row", name=INVALID).get_by_role("button", name="Clear Task Instance").click()
    dialog = ada.get_by_role("dialog")
    expect(dialog.get_by_role("row", name="quality_gate")).to_be_visible()
    with ada.expect_response(is_cleared):
        dialog.get_by_role("button", name="Confirm").click()
    leave(ada)

    assert airflow.wait_for(first, timeout_s=END_S).state == "success"
    assert installation.attempts("stormy") == {MET: [1], MISSED: [1], INVALID: [1, 2], FAILED: [1, 2]}
    after = installation.files("stormy")
    assert {path: digest for path, digest in after.items() if path in before} == before
    ada.goto("/plimsoll/campaigns/stormy")
    expect(square(ada, INVALID, "met; .*attempt 2 of 2")).to_be_visible()
    expect(ada.get_by_role("link", name="Report and downloads")).to_be_visible()


@long("a campaign is started by its form above")
def test_the_form_of_a_campaign_sent_as_it_opens_runs_a_new_campaign(
    ada: Page, airflow: StackUnderTest, installation: Installation
) -> None:
    before = set(installation.toolkit.store.folders(""))

    run = send_as_it_opens(ada, airflow, CALM.dag_id)

    assert airflow.wait_for(run, timeout_s=END_S).state == "success"
    (opened,) = set(installation.toolkit.store.folders("")) - before
    assert opened.startswith(f"{CALM.name}-2")
    assert installation.attempts(opened) == {cell.id: [1] for cell in grid(resolve(CALM))}


@long("the DAG runs in tests/airflow")
def test_the_form_of_the_reaper_sent_as_it_opens_destroys_what_nobody_owns(
    ada: Page, airflow: StackUnderTest, installation: Installation
) -> None:
    key = ClusterId(campaign_id="abandoned", name=f"{MET}/1")
    owner = CellRun(CellRunId(key.campaign_id, MET).run_id, 0, airflow.stack.home.installation).token
    expires = datetime.now(UTC) + timedelta(hours=1)
    installation.provider.ensure(ClusterRequest(id=key, owner=owner, nodes=1, expires_at=expires))

    run = send_as_it_opens(ada, airflow, "reaper")

    assert airflow.wait_for(run, timeout_s=END_S).state == "success"
    assert installation.provider.find(key) is None


def test_the_form_of_the_dag_of_cells_says_what_to_do_instead_and_can_not_be_sent_as_it_opens(
    ada: Page, airflow: StackUnderTest
) -> None:
    ada.goto("/dags/cell")
    ada.get_by_role("button", name="Trigger Dag").click()
    form = ada.get_by_role("dialog")

    expect(form).to_contain_text("To run a cell again, press Run again on the cell's page instead")
    expect(form.get_by_text("This field is required")).to_have_count(2)
    expect(form.get_by_role("button", name="Trigger")).to_be_disabled()


@long("what is refused is told in tests/airflow")
@pytest.mark.usefixtures("stormy")
def test_the_form_shows_why_a_run_is_refused(ada: Page, airflow: StackUnderTest) -> None:
    before = airflow.client.dag_runs("calm")
    ada.goto("/dags/calm")
    ada.get_by_role("button", name="Trigger Dag").click()
    form = ada.get_by_role("dialog")
    form.get_by_role("group").filter(has_text="Any other id: a new").get_by_role("textbox").fill("stormy")
    form.get_by_role("button", name="Trigger").click()

    message = ada.get_by_text("campaign 'stormy': belongs to another definition, 'storm'").locator("visible=true")
    expect(message.first).to_be_visible()
    assert airflow.client.dag_runs("calm") == before
    leave(ada)


def send_as_it_opens(page: Page, airflow: StackUnderTest, dag_id: str) -> DagRun:
    """Press *Trigger* twice, as somebody does who is content with the form's defaults; the run that this starts."""
    airflow.client.unpause(dag_id)
    before = {run.run_id for run in airflow.client.dag_runs(dag_id)}
    page.goto(f"/dags/{dag_id}")
    page.get_by_role("button", name="Trigger Dag").click()
    form = page.get_by_role("dialog")
    expect(form).to_contain_text("Empty:")
    form.get_by_role("button", name="Trigger").click()

    def started() -> list[DagRun]:
        found = [run for run in airflow.client.dag_runs(dag_id) if run.run_id not in before]
        return [run for run in found if run.run_id.startswith("manual__")]

    (run,) = until(started, f"the run of {dag_id}", patience_s=END_S)
    leave(page)
    return run


def leave(page: Page) -> None:
    """Look no longer: while a run goes on, Airflow's page asks for all of it every few seconds, and draws it anew."""
    page.goto("about:blank")


def await_opened(installation: Installation, campaign_id: str) -> None:
    """Wait until `plan` has created the campaign."""
    until(lambda: campaign_id in installation.toolkit.store.folders(""), campaign_id, patience_s=END_S)


def is_waiting(airflow: StackUnderTest, run: DagRun) -> bool:
    """Tell whether its `run_cell` waits for a run of the DAG `cell`."""
    tasks = airflow.client.task_instances(run.dag_id, run.run_id)
    return any(task.task_id == "run_cell" and task.state == "deferred" for task in tasks)


def square(page: Page | FrameLocator, cell: str, words: str) -> Locator:
    """Return the cell in the matrix, once its words begin so."""
    return page.get_by_role("link", name=re.compile(f"^{cell}: {words}"))


def is_unpaused(airflow: StackUnderTest, dag_id: str) -> bool:
    """Tell whether Airflow says so."""
    dag = airflow.client.dag(dag_id)
    return dag is not None and not dag.is_paused


def is_cleared(answer: Response) -> bool:
    """Tell whether it answers the request that clears, not one of those that ask what would be cleared."""
    return answer.url.endswith("/clearTaskInstances") and not answer.request.post_data_json["dry_run"]
