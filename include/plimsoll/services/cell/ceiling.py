"""The ceiling of a definition, `at_most`: the time at which an attempt is ended, and its hosts end, whatever hangs."""

from datetime import datetime, timedelta

from plimsoll.domain.errors import LoadError
from plimsoll.domain.units import format_duration, format_usd
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.spending import due_usd, ledger, spent_usd

_HOUR = timedelta(hours=1)


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
        taken = spent_usd(entries) + due_usd(work.toolkit.store, work.resolved, entries, began, tariff)
        ends.append(began + max(0.0, ceiling.cost - taken) / hourly * _HOUR)
    return min(ends, default=None)


def why_over(work: AttemptContext) -> str:
    """Explain why the attempt is given up now; empty while it keeps the ceiling."""
    ceiling, now = work.part.at_most, work.toolkit.clock.now()
    if ceiling is None:
        return ""
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
