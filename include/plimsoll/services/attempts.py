"""Attempts at cells: begin one, and everything the later phases need to know of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from plimsoll.domain.cell import Attempt, AttemptKey, Cancellation, Cell, cells_by_id
from plimsoll.domain.cluster import Cluster, ClusterId, HostInfo
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import NotFound, Problem, Refused
from plimsoll.domain.owner import owner_words
from plimsoll.domain.spelling import meant
from plimsoll.domain.variant import Variant
from plimsoll.ports.database import Database
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadGenerator
from plimsoll.ports.provider import Provider
from plimsoll.ports.store import ResultStore
from plimsoll.services import layout
from plimsoll.services.campaign.holding import is_at_work, require_free
from plimsoll.services.campaigns import CampaignStore, read_attempt, read_cancellation, read_verdict
from plimsoll.services.kept_hosts import is_kept, use_of
from plimsoll.services.spending import destroy_cluster, note_begun, open_accounts, require_budget
from plimsoll.services.toolkit import Toolkit


@dataclass(frozen=True)
class Work:
    """One attempt at work: its key, and what store and toolkit say about it."""

    toolkit: Toolkit
    key: AttemptKey

    @cached_property
    def campaign(self) -> CampaignStore:
        """The attempt's campaign in the store."""
        return CampaignStore(self.toolkit.store, self.key.campaign_id)

    @cached_property
    def definition(self) -> Definition:
        """The campaign's own copy."""
        return self.campaign.definition()

    @cached_property
    def cell(self) -> Cell:
        """The attempt's cell; NotFound when the definition has no such cell."""
        return require_cell(self.definition, self.key.cell_id)

    @property
    def variant(self) -> Variant:
        """The cell's variant."""
        return self.definition.variant(self.cell.variant)

    @property
    def cluster_id(self) -> ClusterId:
        """The cluster that the attempt uses."""
        use = use_of(self.toolkit.store, self.key) if self.keeps_hosts else None
        return use.cluster if use else ClusterId.of_attempt(self.key)

    @property
    def keeps_hosts(self) -> bool:
        """Whether its hosts live on when the attempt is over."""
        return is_kept(self.definition)

    def host(self, cluster: Cluster, info: HostInfo) -> Host:
        """Access to a host of the attempt's cluster, as far as it is the attempt's."""
        return self.provider.host(cluster, info, self.key.environment if self.keeps_hosts else "")

    @property
    def provider(self) -> Provider:
        """The definition's provider."""
        return self.toolkit.provider(self.definition)

    @property
    def database(self) -> Database:
        """The definition's database."""
        return self.toolkit.database(self.definition)

    @property
    def load_generator(self) -> LoadGenerator:
        """The definition's load generator."""
        return self.toolkit.load_generator(self.definition)

    def attempt(self) -> Attempt:
        """The attempt's own record."""
        attempt = read_attempt(self.toolkit.store, self.key)
        if attempt is None:
            raise NotFound("there is no such attempt", where=str(self.key))
        return attempt


def begin(toolkit: Toolkit, campaign_id: str, cell_id: str, owner: str) -> Work:
    """A new attempt at the cell. Clusters that older attempts at it left behind are destroyed first.

    Refused where the campaign's budget has no room for another cell, where somebody else runs the cell or holds the
    campaign, and where the campaign is being deleted.
    """
    campaign = CampaignStore(toolkit.store, campaign_id)
    definition = campaign.definition()
    campaign.require_kept()
    require_cell(definition, cell_id)
    require_free(toolkit, campaign_id, owner)
    _require_nobody_at_work(toolkit, campaign, cell_id, owner)
    _destroy_older(toolkit, definition, campaign, cell_id)
    require_budget(toolkit, campaign, definition)
    key = campaign.begin_attempt(cell_id, owner, toolkit.clock.now(), toolkit.code_version)
    note_begun(toolkit, definition, key)
    return Work(toolkit, key)


def require_cell(definition: Definition, cell_id: str) -> Cell:
    """The cell of that id; NotFound, with the form of ids, when there is none."""
    cells = cells_by_id(definition)
    if cell_id not in cells:
        mend = f"{meant(cell_id, cells)} `plimsoll plan {definition.name} --json` lists the cells".strip()
        raise NotFound(f"has no cell {cell_id!r}", where=f"definition {definition.name!r}", mend=mend)
    return cells[cell_id]


def _require_nobody_at_work(toolkit: Toolkit, campaign: CampaignStore, cell_id: str, owner: str) -> None:
    """Refused where another owner is known to be alive and has not come to an end with the cell's newest attempt."""
    newest = campaign.newest_attempt(cell_id)
    attempt = read_attempt(toolkit.store, newest) if newest else None
    if newest is None or attempt is None or attempt.owner == owner:
        return
    if read_verdict(toolkit.store, newest) or read_cancellation(toolkit.store, newest):
        return
    if is_at_work(toolkit.store, toolkit.owners, campaign.campaign_id, attempt.owner, toolkit.clock.now()):
        what = f"is being run by {owner_words(attempt.owner)}, since {attempt.started_at:%Y-%m-%d %H:%M} UTC"
        raise Refused([Problem(f"cell {cell_id}", what, "wait until it has ended, or end it there")])


def _destroy_older(toolkit: Toolkit, definition: Definition, campaign: CampaignStore, cell_id: str) -> None:
    """Clusters that are seen, and those of attempts whose account is open: a cloud may not show them yet."""
    provider = toolkit.provider(definition)
    seen = {cluster.id: cluster for cluster in provider.clusters()}
    older = {one: cluster for one, cluster in seen.items() if _is_of(one, campaign, cell_id)}
    unsettled = {ClusterId.of_attempt(key): None for key in open_accounts(campaign) if key.cell_id == cell_id}
    for cluster_id, cluster in {**unsettled, **older}.items():
        destroy_cluster(toolkit, provider, cluster_id, cluster)


def _is_of(cluster_id: ClusterId, campaign: CampaignStore, cell_id: str) -> bool:
    return (cluster_id.campaign_id, cluster_id.purpose) == (campaign.campaign_id, cell_id)


@contextmanager
def failures_recorded(work: Work, phase: str) -> Iterator[None]:
    """Keep the reason of the attempt's first failure where `collect` finds it."""
    try:
        yield
    except Exception as error:
        record_failure(work, f"{phase}: {error}")
        raise


def record_failure(work: Work, reason: str) -> None:
    """The first reason stays: what fails later follows from it."""
    work.toolkit.store.create(layout.attempt_file(work.key, layout.FAILURE), reason.encode())


def cancel(work: Work, by: str) -> None:
    """Put on record that somebody ended the attempt; the caller ends what works at it. A judged one stays as it is."""
    cancelled = Cancellation(by=by, at=work.toolkit.clock.now())
    name = layout.attempt_file(work.key, layout.CANCELLED)
    if work.toolkit.store.create(name, cancelled.model_dump_json(indent=1).encode()):
        record_failure(work, f"cancelled by {by}")


def failure_of(store: ResultStore, key: AttemptKey) -> str | None:
    """Why the attempt failed, None when nothing was recorded."""
    try:
        return store.read(layout.attempt_file(key, layout.FAILURE)).decode()
    except NotFound:
        return None
