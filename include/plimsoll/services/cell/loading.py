"""The load of an attempt: its start, its status, its end, and the ceiling `at_most`, at which the attempt is ended,
whatever hangs. Each action is idempotent: run again, it finds what runs.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from plimsoll.domain.campaign.cell import AttemptKey, load_seed
from plimsoll.domain.text.errors import LoadError
from plimsoll.domain.text.units import format_duration, format_usd
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.services.cell.action_beside_load import followed, required_nodes
from plimsoll.services.cell.attempt_state import note_phase, record_failure
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.load_hosts import look, start_all, stop_all, waits_for_nodes
from plimsoll.services.cell.sizing import with_counted_rows
from plimsoll.services.hosts.spending import due_usd, ledger, spent_usd


def load_job(key: AttemptKey) -> str:
    """Return the id of the attempt's load job. It names the attempt, as kept hosts may have another's."""
    return f"load-{key.environment}"


def start_load(work: AttemptContext) -> None:
    """Start the load, or attach to it if it is running already. Raises LoadError once the ceiling is reached."""
    require_below(work)
    note_phase(work.toolkit, work.key, "populate", attempted_ops_s=work.cell.load_ops_s)
    cluster, provider = work.cluster(), work.provider
    database = provider.database()
    asked = LoadRequest(
        job_id=load_job(work.key),
        spec=work.load_spec,
        load_ops_s=work.cell.load_ops_s,
        contact_points=database.contact_points if database else [host.address for host in work.deployed(cluster)],
        expires=work.time_left(),
        protocol=work.part.protocol_of(work.variant),
        waits=waits_for_nodes(work),
        populates=not work.goes_on,
        database=database,
        seed=load_seed(work.part.seed, work.cell, work.key.attempt),
        own=provider.own(cluster.id),
    )
    request = with_counted_rows(work, cluster, asked)
    # Counting takes minutes: the hosts may be gone by now, and the load is to end with them.
    cluster = work.cluster()
    hosts = work.hosts(cluster, cluster.load_hosts)
    start_all(work.load_generator, hosts, replace(request, expires=work.time_left()))


def poll_load(work: AttemptContext) -> LoadStatus:
    """Return the load's status. It is failed if the cluster is gone, or if operations fail and a node is down."""
    status = _load_status(work)
    if status.state == "running":
        note_phase(
            work.toolkit,
            work.key,
            status.phase,
            achieved_ops_s=status.achieved_ops_s,
            attempted_ops_s=work.cell.load_ops_s,
            seconds_left=status.seconds_left,
            note=status.note,
            levels=status.levels,
        )
    return status


def require_complete(work: AttemptContext, status: LoadStatus) -> None:
    """Raise LoadError with the reason unless the load ran to its end."""
    if status.state != "complete":
        record_failure(work, f"load: {status.reason}")
        raise LoadError(status.reason or "did not complete", where=f"load of {work.key}")


def stop_load(work: AttemptContext) -> None:
    """Stop the load if it runs, so that its logs are complete. A missing cluster is no error.

    The first host's error is raised once the loads of all hosts were told to stop.
    """
    cluster = work.living()
    if cluster is None:
        return
    hosts = work.hosts(cluster, cluster.load_hosts)
    for error in stop_all(work.load_generator, hosts, load_job(work.key)).values():
        raise error


def _load_status(work: AttemptContext) -> LoadStatus:
    cluster = work.living()
    if cluster is None:
        why = work.why_gone() or ": it was destroyed, or its hosts died"
        return LoadStatus("failed", reason=f"the cluster is gone{why}")
    status = look(work, cluster, load_job(work.key))
    # Operations on a node that fails fail with it. While none does, no other connection is needed, and a process that
    # watches many loads has one for each. What is missed that way is found when the attempt is collected.
    is_smooth = status.state == "running" and status.errors == 0
    if not is_smooth and (down := work.product.down(required_nodes(work, cluster))):
        return LoadStatus("failed", status.phase, reason="; ".join(down))
    return followed(work, cluster, status)


def latest_end(work: AttemptContext) -> datetime | None:
    """Return the time after which the attempt's hosts must not live, even where nobody is left to end them.

    It is reached when the attempt has taken all of its time, or when its hosts have cost what was left of the
    campaign's money as it began, less what is due for the attempts that ran then. None without a ceiling.
    """
    ceiling, began = work.part.at_most, work.attempt().started_at
    if ceiling is None:
        return None
    ends = [began + ceiling.cell] if ceiling.cell else []
    tariff = work.toolkit.tariff(work.resolved) if ceiling.cost is not None else None
    shape = work.resolved.node_hosts, work.part.load_generator.hosts
    hourly = tariff.usd_per_cluster_hour(*shape) if tariff else None
    if ceiling.cost is not None and tariff and hourly:
        # As of its start: asked again after a crash, the same is asked for.
        entries = [entry for entry in ledger(work.campaign, began) if entry.key != work.key]
        taken = spent_usd(entries) + due_usd(work.store, work.resolved, entries, began, tariff)
        ends.append(began + max(0.0, ceiling.cost - taken) / hourly * timedelta(hours=1))
    return min(ends, default=None)


def why_over(work: AttemptContext) -> str:
    """Explain why the attempt is given up now; empty while it keeps the ceiling."""
    ceiling, now = work.part.at_most, work.toolkit.clock.now()
    if ceiling is None:
        return ""
    # `measured` leaves time to keep the logs before the hosts end, at `cell`
    if ceiling.cell and ceiling.measured and now >= work.attempt().started_at + ceiling.measured:
        return f"the cell has taken what `at_most: {{cell: {format_duration(ceiling.cell)}}}` allows it"
    if ceiling.cost is None or work.part.provider.name not in work.toolkit.tariffs:
        return ""
    usd = spent_usd(ledger(work.campaign, now))
    if usd < ceiling.cost:
        return ""
    return f"the campaign has cost {usd:.2f} USD, and `at_most: {{cost: {format_usd(ceiling.cost)}}}` ends it there"


def require_below(work: AttemptContext) -> None:
    """Raise LoadError once the attempt has reached the ceiling."""
    if over := why_over(work):
        raise LoadError(over, where=str(work.key), mend="raise `at_most` in the definition, then run the cell again")
