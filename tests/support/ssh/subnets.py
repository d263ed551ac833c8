"""A loopback subnet that no cluster of this machine uses, for tests whose nodes are on hosts of the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.adapters.providers.local.folders import exclusive
from plimsoll.adapters.providers.local.subnets import claim, default_claims, release


@contextmanager
def claimed_subnet(folder: Path, nodes: int) -> Iterator[str]:
    """Provide the subnet's first three numbers, such as `127.20.8`.

    It is claimed inside the block, as clusters claim it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    claims = default_claims()
    with exclusive(claims):
        subnet = claim(claims, folder, nodes)
    try:
        yield subnet
    finally:
        with exclusive(claims):
            release(claims, folder)
