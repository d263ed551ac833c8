"""List the downloads of a definition's software, before its first cell."""

from collections.abc import Iterator, Sequence

from plimsoll.domain.campaign import Campaign
from plimsoll.domain.download import Download
from plimsoll.domain.resolve import load_spec, product_spec
from plimsoll.services.toolkit import Toolkit


def downloads(toolkit: Toolkit, campaign: Campaign) -> tuple[Download, ...]:
    """Return the software that `prepare` downloads for this campaign, each once; what is here already is marked."""
    products = [name for name in campaign.products if name in toolkit.products]
    found = [one for name in products for one in toolkit.product(name).downloads(product_spec(campaign, name))]
    if campaign.load_generator.name in toolkit.load_generators:
        found += toolkit.load_generator(campaign).downloads(load_spec(campaign.parts[0]))
    return tuple({one.name: one for one in found}.values())


def known_bytes(found: Sequence[Download]) -> int:
    """Return the size of all these downloads together, bytes, as far as it is known before."""
    return sum(one.size_bytes or 0 for one in found)


def download_lines(found: Sequence[Download]) -> Iterator[str]:
    """Yield sentences on what is still to be downloaded, with sizes, and on what is here; none where nothing is
    needed.
    """
    there, wanted = [one for one in found if one.is_there], [one for one in found if not one.is_there]
    if wanted:
        known = known_bytes(wanted)
        at_least = "at least " if any(one.size_bytes is None for one in wanted) else ""
        yield f"To download before the first cell, {at_least}{known / 1_000_000:,.0f} MB: {', '.join(map(str, wanted))}"
    if there:
        yield f"Downloaded already: {', '.join(one.name for one in there)}"
