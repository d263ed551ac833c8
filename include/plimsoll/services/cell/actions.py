"""Actions of a cell's steps on hosts, except for the load. Each action is idempotent: it goes on with what exists."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from plimsoll.domain.attempt.status import Phase
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest
from plimsoll.domain.hosts.fingerprint import Fingerprint, ReportedNode
from plimsoll.domain.keys.host_bounds import HostFigures
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.text.errors import LASTS, DeployError, HostError, HostsLost, StoreError, UnfitHosts
from plimsoll.ports.host import Host, at_once
from plimsoll.ports.provider import Provider
from plimsoll.services.cell.attempt_state import note_phase
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.loading import latest_end, require_below
from plimsoll.services.cell.preflight import await_calm, await_turn, examine
from plimsoll.services.cell.shared_data import (
    left_for_next,
    require_running,
    settle_origin,
    time_of_attempt,
    time_of_further_loads,
)
from plimsoll.services.hosts import kept_hosts, kept_records
from plimsoll.services.hosts.ending import destroy_cluster
from plimsoll.services.hosts.kept_records import require_assignment
from plimsoll.services.retries import try_all, waiting_reported_to
from plimsoll.services.store import layout
from plimsoll.services.toolkit import needs_of


def provision(work: AttemptContext) -> Cluster:
    """Make sure that the attempt's hosts exist and answer. Raises ProviderError otherwise."""
    note_phase(work.toolkit, work.key, "provision")
    attempt = work.attempt()
    # From the attempt's own start, or from its turn: asked again after a crash, the same is asked for.
    began = attempt.started_at
    if work.part.provider.owns != "cluster":
        with waiting_reported_to(partial(_note_waiting, work, "provision")):
            began = await_turn(work)
    over_at = began + time_of_attempt(work)
    if work.keeps_hosts:
        kept_hosts.take(work.toolkit, work.resolved, attempt, over_at)
    request = ClusterRequest(
        id=work.cluster_id,
        owner=attempt.owner,
        # Kept hosts serve all stages, so there are as many as the stage with the most needs
        nodes=(work.resolved if work.keeps_hosts else work.part).node_hosts,
        load_hosts=work.part.load_generator.hosts,
        expires_at=over_at,
        ends_at=latest_end(work),
        kept_beyond=time_of_further_loads(work),
        options=dict(work.part.provider.options),
        ports=needs_of(work.toolkit.products, work.part).ports,
        **(_recorded_facts(work) if work.keeps_hosts else {}),
    )
    try:
        with waiting_reported_to(partial(_note_waiting, work, "provision")):
            cluster = work.provider.ensure(request)
    except HostsLost as error:
        if not request.was_whole:
            raise
        kept_records.retire(work.toolkit, request.id, error.text())
        return provision(work)  # on the cluster that takes its place
    if work.keeps_hosts:
        # Hosts may take long to be ready. What another attempt has on them by now must not be cleared.
        require_assignment(work.store, work.key)
        changed = kept_records.note_provided(work.toolkit, cluster)
        if work.part.data_scope == "repeat":
            settle_origin(work, cluster, is_changed=changed)
        # Whoever had the hosts before may have died before they were cleared. Beside a host that is new nothing may be
        # left of this attempt either: its nodes know the one that died.
        work.provider.clear(cluster, keep=frozenset() if changed else work.environments)
    # Last: a second try of a killed `deploy` tells by the earlier record that hosts were being replaced
    layout.CLUSTER.write(work.store, work.key, cluster)
    return cluster


def _recorded_facts(work: AttemptContext) -> dict[str, Any]:
    """Return the records of the kept cluster that is requested, and of hosts of its campaign."""
    store, cluster_id = work.store, work.cluster_id
    return {
        "was_whole": layout.CLUSTER.read(store, cluster_id) is not None,
        "unfit": frozenset(kept_records.unfit_hosts(store, cluster_id)),
        "avoided": kept_records.unfit_hosts_of_campaign(store, cluster_id.campaign_id),
    }


def _note_waiting(work: AttemptContext, phase: Phase, sentence: str) -> None:
    """Show in the cell's progress what the cell waits for, as far as the store can be written."""
    with suppress(StoreError):
        note_phase(work.toolkit, work.key, phase, note=sentence[:300])


def deploy(work: AttemptContext) -> Fingerprint:
    """Check the hosts, start the database until all nodes agree on the schema, and record the real environment.

    Where the load goes on with an earlier one's data, the database runs already. Raises DeployError where a host or the
    database is not as required.
    """
    require_below(work)
    note_phase(work.toolkit, work.key, "deploy")
    if work.part.wait_for_calm is not None:
        cluster = work.cluster()
        hosts = work.hosts(cluster, (*cluster.observed, *cluster.nodes, *cluster.load_hosts))
        with waiting_reported_to(partial(_note_waiting, work, "deploy")):
            await_calm(work, _sampled(hosts))
    canary = _preflight(work)
    cluster = work.cluster()
    observed, loads = work.hosts(cluster, cluster.observed), work.hosts(cluster, cluster.load_hosts)
    nodes = work.nodes(cluster) or observed
    load, *further = loads
    # Before the database starts, so that a missing program costs no more time
    for host in loads:
        if unready := work.load_generator.unready(host, work.load_spec):
            raise DeployError(f"{unready}; {LASTS}", where=f"host {host.info.name} of {work.key}")
    if work.goes_on:
        require_running(work, cluster)
    else:
        # The database outlives the attempt where higher loads go on with its data
        lives = work.origin.until - work.toolkit.clock.now() if work.origin else work.time_left()
        work.product.deploy(work.variant_spec, nodes, load, lives)
    # Nodes that somebody else runs; none where nodes were deployed.
    reported = tuple(work.product.reported(load))
    # The cluster is asked for again: it may be gone, or another attempt's, after the start of the database
    own = observed or _all_hosts(work)[: len(nodes)]
    # Reversed: of hosts that are one machine only the last is sampled, which is then the first load host
    _sample(work, _sampled([*own, *reversed(loads)]), reported)
    fingerprint = Fingerprint(
        nodes=tuple(work.product.fingerprint(work.variant, nodes)),
        load_host=load.facts(),
        further_load_hosts={host.info.name: host.facts() for host in further},
        load_clock_offset_ms=load.clock().offset_ms,
        load_generator=work.load_generator.describe(load, work.load_spec),
        canary=canary,
        reported_nodes=reported,
        **_kept(work),
    )
    layout.FINGERPRINT.write(work.store, work.key, fingerprint)
    return fingerprint


def _preflight(work: AttemptContext) -> tuple[HostFigures, ...]:
    """Return the figures of the preflight check. Kept hosts that fail it are replaced once, and all checked again."""
    if not _is_replacing(work):
        try:
            return examine(work, _all_hosts(work))
        except (DeployError, HostError) as error:
            if not work.keeps_hosts or not kept_hosts.served_before(work.store, work.key):
                raise
            _give_up_hosts(work, error)
    provision(work)
    note_phase(work.toolkit, work.key, "deploy")
    return examine(work, _all_hosts(work))


def _is_replacing(work: AttemptContext) -> bool:
    """Tell whether a try of this step that was killed had begun to replace hosts.

    Airflow tries only the killed step again. The new hosts may be there already and not on record, so without this they
    would be used as if they had always been there.
    """
    recorded = layout.CLUSTER.read(work.store, work.key)
    if not work.keeps_hosts or recorded is None:
        return False
    return recorded.id != work.cluster_id or kept_records.is_given_up(work.store, recorded)


def _give_up_hosts(work: AttemptContext, error: DeployError | HostError) -> None:
    """Record that the next provisioning is to replace the hosts; those alone that fail, where the provider can."""
    # Before the replacement is recorded: a step that goes on after a crash must not apply old figures to new hosts.
    work.store.delete(layout.CANARY.key(work.key))
    if isinstance(error, UnfitHosts) and work.provider.replaces_hosts:
        identities = {info.name: info.identity for info in work.cluster().hosts}
        unfit = {identities[name]: why for name, why in error.reasons.items()}
        kept_records.note_unfit(work.toolkit, work.cluster_id, unfit)
    else:
        kept_records.retire(work.toolkit, work.cluster_id, str(error))


def _kept(work: AttemptContext) -> dict[str, Any]:
    """Return the kept hosts of the attempt, why they replaced others, and which attempts' data it goes on with."""
    if not work.keeps_hosts:
        return {}
    cluster_id, origin = work.cluster_id, work.origin
    return {
        "cluster": cluster_id.name,
        "replaces": kept_records.why_replaced(work.store, cluster_id),
        "data_of": tuple(f"{key.cell_id}/{key.attempt}" for key in origin.earlier) if origin else (),
    }


def destroy(work: AttemptContext) -> None:
    """Remove everything of the attempt from all hosts, destroy its cluster, and record the cost.

    Kept hosts live on for other attempts. Raises ProviderError where something remains, StoreError where only the
    record is missing.
    """
    try:
        keeps_hosts = work.keeps_hosts
    except StoreError:  # a cluster of its own must be destroyed, and kept hosts that are missed end when they expire
        keeps_hosts = False
    if keeps_hosts:
        kept_hosts.release(work.toolkit, work.provider, work.key, keep=left_for_next(work))
        return
    cluster_id = ClusterId.of_attempt(work.key)
    try_all(partial(destroy_cluster, work.toolkit, provider, cluster_id) for provider in _providers(work))


def _providers(work: AttemptContext) -> Sequence[Provider]:
    """Return the definition's provider, or all of them where the store can't be read, as hosts must end in any case.

    Those that lend load hosts come last: whoever borrows them may have to clean up from them first.
    """
    try:
        return [work.provider]
    except StoreError:
        names = sorted(work.toolkit.providers, key=lambda name: name != EXTERNAL)
        return [work.toolkit.provider_of(name, work.key.campaign_id) for name in names]


def _all_hosts(work: AttemptContext) -> list[Host]:
    """Return access to all hosts, the nodes first, in the attempt's own folder, which is beside that of their data."""
    cluster = work.cluster()
    return work.hosts(cluster, (*cluster.nodes, *cluster.load_hosts))


def _sample(work: AttemptContext, hosts: Sequence[Host], reported: Sequence[ReportedNode]) -> None:
    left, own, external = work.time_left(), work.environments, work.provider.database()
    nodes = [] if external and external.addresses else [node.address for node in reported]
    database = [str(external.port), *external.contact_points, *nodes] if external else []
    at_once(hosts, lambda host: work.toolkit.sampler.start(host, left, own, database))


def _sampled(hosts: Sequence[Host]) -> list[Host]:
    # Hosts that are one machine (the local provider's) would only say the same several times: the last speaks for it.
    machines = {host.info.facts.get("machine", host.info.name): host for host in hosts}
    return list(machines.values())
