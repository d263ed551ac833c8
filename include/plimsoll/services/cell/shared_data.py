"""The data of a ramp whose loads share them: whether an attempt goes on with an earlier one's, and what it leaves.

The database and its files are in an environment of their own on the nodes, named after the attempt that populated.
Each later attempt has its own environment beside it, for its load, its samples and its checks. An attempt decides
once, when it is given its hosts, and puts on record on whose data it runs. Where it can't be proved that data are
whole, the attempt populates fresh ones.
"""

from datetime import timedelta

from plimsoll.domain.attempt.populated_data import DataOrigin, can_go_on
from plimsoll.domain.campaign.grid import cells_by_id
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.text.errors import DeployError, PlimsollError
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.kept_records import assignment_before
from plimsoll.services.store import layout

MARGIN = timedelta(hours=1)
"""The time after the declared time of the attempt's steps at which hosts end themselves. In this time hosts are
provisioned, deployed and collected, and populated unless the definition gives populating a time of its own.
"""


def time_of_attempt(work: AttemptContext) -> timedelta:
    """Return the time after which the attempt is over at the latest, counted from its start.

    Its hosts live as long. The next attempt on kept hosts sets their end anew.
    """
    longest, ceiling = work.part.declared_time + MARGIN, work.part.at_most
    return min(longest, ceiling.cell) if ceiling and ceiling.cell else longest


def time_of_further_loads(work: AttemptContext) -> timedelta:
    """Return the time by which the database outlives the attempt, for higher loads, which go on with its data."""
    return _time_of_further_load(work) * _higher_loads(work)


def _time_of_further_load(work: AttemptContext) -> timedelta:
    """Return the time of a load that does not populate."""
    return min(time_of_attempt(work), work.part.declared_time - work.part.timing.beyond_the_load + MARGIN)


def settle_origin(work: AttemptContext, cluster: Cluster, *, is_changed: bool) -> DataOrigin:
    """Decide on whose data the attempt runs, and put it on record. Asked again, it says the same while that is true.

    `is_changed`: hosts of the cluster have just been replaced, so no data on it are whole.
    """
    # Hosts may have been waited for, and then end later than by the attempt's start.
    ends_at = max(cluster.expires_at, work.attempt().started_at + time_of_attempt(work))
    fresh = DataOrigin(cluster=cluster.id, until=ends_at + time_of_further_loads(work))
    before = work.origin
    if before is None or before.cluster != cluster.id:
        before = _of_last_assignment(work, cluster) or fresh
    goes_on = bool(before.earlier) and not is_changed and _runs(work, cluster, before)
    origin = before if goes_on or not before.earlier else fresh
    if origin != work.origin:
        layout.ORIGIN.write(work.store, work.key, origin)
    return origin


def require_running(work: AttemptContext, cluster: Cluster) -> None:
    """Raise DeployError where the database that an earlier attempt started does not run on every node any more."""
    down = work.product.down(work.nodes(cluster))
    if down:
        mend = "run the cell again: it populates fresh data"
        raise DeployError(f"the data to go on with are lost: {'; '.join(down)}", where=str(work.key), mend=mend)


def left_for_next(work: AttemptContext) -> frozenset[str]:
    """Return the environment of the data, where a higher load may go on with them; empty where they are removed."""
    if work.origin is None or not _higher_loads(work):
        return frozenset()
    manifest = layout.MANIFEST.read(work.store, work.key)
    is_sound = manifest is not None and not manifest.failure and not manifest.nodes_down
    return frozenset({work.data_environment}) if is_sound else frozenset()


def _higher_loads(work: AttemptContext) -> int:
    """Return the number of loads above the cell's own that its variant may still meet on the same data."""
    own = work.cell.load_ops_s
    return sum(load > own for load in work.part.loads_on_data_of(work.cell.variant, own))


def _of_last_assignment(work: AttemptContext, cluster: Cluster) -> DataOrigin | None:
    """Return the data of the attempt that had the hosts just before, if this one may go on with them."""
    last = assignment_before(work.store, work.key, cluster.id.purpose)
    if last is None or not last.over or last.cluster != cluster.id:
        return None
    left = layout.ORIGIN.read(work.store, last.attempt)
    cell = cells_by_id(work.resolved).get(last.attempt.cell_id)
    # The database ends itself at `until`, which must not come before the end of the load
    if left is None or cell is None or left.until < work.attempt().started_at + _time_of_further_load(work):
        return None
    is_next = can_go_on(work.cell, cell, layout.VERDICT.read(work.store, last.attempt))
    return left.handed_on(last.attempt) if is_next else None


def _runs(work: AttemptContext, cluster: Cluster, origin: DataOrigin) -> bool:
    """Tell whether the database started with the data runs on every node. It is never started a second time."""
    environment = origin.environment(work.key)
    try:
        nodes = [work.provider.host(cluster, info, environment) for info in work.deployed(cluster)]
        return not work.product.down(nodes)
    except PlimsollError:
        return False
