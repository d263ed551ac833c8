"""What comes between populating and a load: rows are written to disk, nodes finish what they began, an action ends."""

from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.services.cell.action_beside_load import left_before_load
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.rows.sizing import flush_once


def waits_for_nodes(work: AttemptContext) -> bool:
    """Tell whether the load waits until the nodes themselves report that the work left by populating is done.

    A load generator that asks the nodes as their client does not need this, and one that can't be told when to start
    can't do it.
    Where the rows are to have a size on disk, it waits too: they are measured before it starts. So does a load that
    goes on with the data of an earlier one, as it does not populate, and one that begins after an action.
    """
    workload, generator, product = work.part.workload, work.load_generator, work.product
    if not generator.can_wait:
        return False
    if workload.data_per_node is not None or work.part.action_before_load is not None:
        return True
    if not generator.settles(workload) or not product.settles:
        return False
    return work.goes_on or product.hides_leftover_work(work.variant_spec)


def awaited_before_load(work: AttemptContext, cluster: Cluster) -> tuple[str | None, LeftoverWork | None]:
    """Go on with all that has to end before the load may begin.

    Returns what is awaited, in words or empty, and None once nothing is; then with the work that populating had left,
    where it was waited for. A cell without a load always awaits. Raises LoadError where an action failed.
    """
    flush_once(work, cluster)
    leftover_work, product = None, work.product
    if product.settles and waits_for_nodes(work):
        # Nodes may have the finished job of a lower load, which shared its data.
        leftover_work = product.leftover_work(work.nodes(cluster), f"settle-{work.key.environment}")
        if leftover_work is None:
            return "", None
    if (note := left_before_load(work, cluster)) or "load" not in work.part.knows:
        return note, None
    return None, leftover_work
