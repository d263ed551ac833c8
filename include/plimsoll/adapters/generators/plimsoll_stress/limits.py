"""What a load does not do, or does not show, in sentences for plan, verdict and report. Pure."""

from collections.abc import Iterator, Sequence

from plimsoll.adapters.generators.plimsoll_stress.own_statements import first_page_remarks
from plimsoll.adapters.generators.workload_options import given_options
from plimsoll.domain.hbase import HBASE
from plimsoll.domain.load_spec import LoadSpec
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


def limits(spec: LoadSpec) -> Sequence[str]:
    """Return what reports must say of such a load, without full stops."""
    return tuple(_limits(spec))


def _limits(spec: LoadSpec) -> Iterator[str]:
    if spec.is_closed_loop:
        yield _CLOSED.format(plural(spec.load_generator.most_in_flight, "operation"))
    if any(target.protocol == HBASE for target in spec.targets) and spec.workload.name == "BatchedRows":
        yield _NO_LOGGED_BATCHES
    if spec.owns != "cluster":
        yield _HIDDEN
    yield from first_page_remarks(given_options(spec.workload))
