"""What a definition must say of a cluster that somebody else runs, and what it can't say of it."""

from collections.abc import Iterator

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.keys.faults import Fault
from plimsoll.domain.keys.system import EXTERNAL

_NOT_OURS = "somebody else decides that of an external cluster"


def external_contradictions(campaign: Campaign) -> Iterator[Fault]:
    """Yield the faults of a definition with an external cluster, or with only half of one."""
    if campaign.provider.owns == "cluster":
        if EXTERNAL in campaign.products:
            what = "an external database is reached by the provider of that name alone"
            yield Fault(("provider", "name"), what, f"write `{EXTERNAL}`, with its options")
        return
    yield from _products(campaign)
    yield from _safety(campaign)
    for number, variant in enumerate(campaign.variants):
        for key in ("jvm", "archive", "settings"):
            if getattr(variant, key):
                yield Fault(("variants", number, key), _NOT_OURS, "remove it")
    if campaign.system.settings:
        yield Fault(("system", "settings"), _NOT_OURS, "remove it")


def _products(campaign: Campaign) -> Iterator[Fault]:
    if campaign.products != (EXTERNAL,):
        what = f"Plimsoll deploys {', '.join(campaign.products)}, and nothing is deployed on an external cluster"
        yield Fault(("system", "database"), what, f"write `{EXTERNAL}`, and no `product` in variants")
    if len(campaign.variants) > 1:
        what = "an external cluster is what it is: every variant would be the same"
        yield Fault(("variants",), what, "write one")


def _safety(campaign: Campaign) -> Iterator[Fault]:
    """Yield what may let a load harm a cluster that people depend on."""
    if not campaign.stop_when:
        what = "is missing: people may depend on an external cluster, and a load must end before it harms them"
        mend = "write e.g. `stop_when: [{errors: 5%, within: 10s}, {percentile: 99, above: 1s, within: 30s}]`"
        yield Fault(("stop_when",), what, mend)
    if campaign.max_parallel > 1:
        what = "the cells of an external cluster have one keyspace, one after the other"
        yield Fault(("max_parallel",), what, "write 1")
