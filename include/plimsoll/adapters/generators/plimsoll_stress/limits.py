"""What a load does not do, or does not show, in sentences for plan, verdict and report. Pure."""

from collections.abc import Iterator, Sequence

from plimsoll.adapters.generators.plimsoll_stress.own_statements import first_page_remarks
from plimsoll.adapters.generators.workload_options import given_options
from plimsoll.domain.definition import Definition
from plimsoll.domain.hbase import HBASE
from plimsoll.domain.plurals import plural

_CLOSED = (
    "CLOSED LOOP, which HIDES WAITS: an operation is sent only when fewer than {} are in flight, at most at the load's "
    "rate, and its time counts from the send. A slow database is asked less instead of later, so these times are no "
    "response times and no service would see them. What was sent, not the load, is the rate"
)
_NO_LOGGED_BATCHES = "HBase has no logged batches: there, a batch is as many puts that are sent together"
_HIDDEN = (
    "what the nodes of an external cluster did is not known (pauses, compactions, their hosts): causes of misses are "
    "found on the load's side alone"
)


def limits(definition: Definition) -> Sequence[str]:
    """Return what reports must say of such a load, without full stops."""
    return tuple(_limits(definition))


def _limits(definition: Definition) -> Iterator[str]:
    if definition.is_closed_loop:
        yield _CLOSED.format(plural(definition.load_generator.most_in_flight, "operation"))
    if HBASE in definition.protocols and definition.workload.name == "BatchedRows":
        yield _NO_LOGGED_BATCHES
    if definition.provider.is_external:
        yield _HIDDEN
    yield from first_page_remarks(given_options(definition.workload))
