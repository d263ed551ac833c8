"""Run a cell, or a whole campaign, in this process: the cell's life without Airflow."""

from collections.abc import Callable

from plimsoll.domain.result import Verdict
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services import phases
from plimsoll.services.attempts import Work, begin, failures_recorded
from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.collecting import collect
from plimsoll.services.following import Follower
from plimsoll.services.judging import judge
from plimsoll.services.planning import missing_cells
from plimsoll.services.spending import spent_so_far
from plimsoll.services.toolkit import Toolkit

_POLL_S = 2.0
Say = Callable[[str], None]


def run_cell(toolkit: Toolkit, campaign_id: str, cell_id: str, owner: str, say: Say) -> Verdict:
    """One attempt from provisioning to verdict. Whatever happens, its cluster is destroyed and its logs are kept."""
    work = begin(toolkit, campaign_id, cell_id, owner)
    say(f"{work.key}: begun")
    try:
        _load(work, say)
    except Exception as error:  # the reason is on record; collect and judge tell it
        say(f"{work.key}: {error}")
    finally:
        try:
            collect(work)
        finally:
            phases.destroy(work)
    if money := spent_so_far(toolkit, work.campaign, work.definition):
        say(f"{work.key}: {money}")
    verdict = judge(work)
    say(f"{work.key}: {verdict.outcome} {'; '.join(verdict.reasons)}")
    return verdict


def run_missing(toolkit: Toolkit, campaign_id: str, owner: str, say: Say) -> tuple[Verdict, ...]:
    """Every cell without a valid attempt, once, one after another."""
    campaign = CampaignStore(toolkit.store, campaign_id)
    cells = missing_cells(campaign, campaign.definition())
    return tuple(run_cell(toolkit, campaign_id, cell.id, owner, say) for cell in cells)


def _load(work: Work, say: Say) -> None:
    for name, phase in (("provision", phases.provision), ("deploy", phases.deploy), ("load", phases.start_load)):
        say(f"{work.key}: {name}")
        with failures_recorded(work, name):
            phase(work)
    follower = Follower(work)
    while isinstance(status := follower.look(), str) or status.state == "running":
        say(f"{work.key}: {status if isinstance(status, str) else _progress(status)}")
        work.toolkit.clock.sleep(_POLL_S)
    phases.require_complete(work, status)


def _progress(status: LoadStatus) -> str:
    return f"{status.phase}, {status.achieved_ops_s or 0:.0f} ops/s, {status.seconds_left or 0:.0f} s left"
