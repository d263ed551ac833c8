"""The action of an attempt: every look at the load begins it, or goes on with it, or finds that it has ended.

Begin and end are recorded exclusively. All else that is known of it is on the hosts, so any process can go on with it.
"""

from dataclasses import replace
from datetime import timedelta

from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.keys.action import Action, ActionBegin, ActionEnd, RecordedAction
from plimsoll.domain.text.errors import ActionError, DeployError, LoadError
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.ports.product import ActionRequest
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout


def required_nodes(work: AttemptContext, cluster: Cluster) -> list[Host]:
    """Return the nodes that have to run now: all that were deployed, but for what an action changes or has changed."""
    begin, end = _begin(work), _end(work)
    if begin is None:
        return work.nodes(cluster)
    if end is None:
        return [node for node in work.nodes(cluster) if node.info.name not in begin.hosts]
    return [node for node in work.node_hosts(cluster) if node.info.name in end.nodes]


def followed(work: AttemptContext, cluster: Cluster, status: LoadStatus) -> LoadStatus:
    """Return the load's status with what the action is at: failed if the action failed, or if the load ended first."""
    action = work.part.action
    if action is None or status.state == "failed" or (status.state == "running" and status.phase == "populate"):
        return status
    try:
        note = _gone_on(work, cluster, action, is_due=_is_due(work, action, status))
    except ActionError as error:
        return LoadStatus("failed", status.phase, reason=f"{action.name}: {error}")
    if status.state == "complete" and _end(work) is None:
        what = f"the load was over before {action.name} was ({note or 'which had not begun'})"
        return LoadStatus("failed", status.phase, reason=f"{what}; write a longer `timing.duration`")
    return replace(status, note="; ".join(filter(None, (status.note, note))))


def left_before_load(work: AttemptContext, cluster: Cluster) -> str:
    """Go on with an action that has to end before the load begins.

    Returns what it is at; empty once it has ended, and without such an action. Raises LoadError where it failed.
    """
    action = work.part.action_before_load
    if action is None or _end(work) is not None:
        return ""
    try:
        note = _gone_on(work, cluster, action, is_due=True)
    except ActionError as error:
        raise LoadError(f"{action.name}: {error}", where=str(work.key)) from error
    return "" if _end(work) else note


def is_all_done(work: AttemptContext) -> bool:
    """Return whether an action has ended after which no load begins."""
    return "load" not in work.part.knows and _end(work) is not None


def _gone_on(work: AttemptContext, cluster: Cluster, action: Action, *, is_due: bool) -> str:
    """Begin the action if it is due, else go on with it. Returns what it is at; empty before it."""
    begin, end = _begin(work), _end(work)
    if begin is None:
        begin = _begun(work, cluster, action) if is_due else None
    if begin is None:
        return ""
    if end is None:
        progress = work.product.act(_request(work, cluster, action))
        if progress.end is None:
            return progress.note
        # Before the end is on record, because no later look asks for new nodes
        try:
            _note_new_nodes(work, cluster, progress.end)
        except DeployError as error:  # the next look asks again, and the end stays when it was
            return f"{action.name}: asking what new nodes run: {error}"
        end = layout.ACTION_END.settle(work.store, work.key, progress.end)
    return f"{action.name} took {RecordedAction(begin, end).took}"


def _note_new_nodes(work: AttemptContext, cluster: Cluster, end: ActionEnd) -> None:
    """Add the nodes that the action brought to the fingerprint. Raises DeployError where one does not tell."""
    fingerprint = layout.FINGERPRINT.read(work.store, work.key)
    if fingerprint is None:
        return
    known = {node.host for node in fingerprint.nodes}
    names = [name for name in end.nodes if name not in known]
    new = [node for node in work.node_hosts(cluster) if node.info.name in names]
    if new:
        nodes = (*fingerprint.nodes, *work.product.fingerprint(work.variant, new))
        layout.FINGERPRINT.write(work.store, work.key, fingerprint.model_copy(update={"nodes": nodes}))


def _is_due(work: AttemptContext, action: Action, status: LoadStatus) -> bool:
    timing = work.part.timing
    if status.state != "running" or status.seconds_left is None:
        return False
    return timing.duration - timedelta(seconds=status.seconds_left) >= action.begins(timing)


def _begun(work: AttemptContext, cluster: Cluster, action: Action) -> ActionBegin:
    """Record that the action begins. Raises ActionError where a node is down, which would be taken for its doing."""
    nodes = work.nodes(cluster)
    if down := work.product.down(nodes):
        raise ActionError("; ".join(down), where="before it began", mend="run the cell again")
    hosts = action.takes_down([node.info.name for node in nodes])
    begin = ActionBegin(action=action, at=work.toolkit.clock.now(), hosts=hosts)
    return layout.ACTION.settle(work.store, work.key, begin)


def _request(work: AttemptContext, cluster: Cluster, action: Action) -> ActionRequest:
    hosts, count = work.node_hosts(cluster), work.part.system.nodes
    return ActionRequest(
        action,
        work.variant_spec,
        nodes=hosts[:count],
        spares=hosts[count : count + action.spares],
        expires=work.time_left(),
        now=work.toolkit.clock.now(),
    )


def _begin(work: AttemptContext) -> ActionBegin | None:
    return layout.ACTION.read(work.store, work.key) if work.part.action else None


def _end(work: AttemptContext) -> ActionEnd | None:
    return layout.ACTION_END.read(work.store, work.key) if work.part.action else None
