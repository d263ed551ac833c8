"""A campaign of one cell on hosts that the test cloud simulates: each is a folder."""

from pathlib import Path

from tests.cloud.cloud import Cloud
from tests.fakes.instant import Faults
from tests.integration.reliability.fickle_hosts import reached
from tests.integration.reliability.struck import Moments, Place, StruckLoadGenerator, StruckProduct, place_on
from tests.support.cloud.account import Account
from tests.support.cloud.clock import CloudClock
from tests.support.ssh.command import keygen

from plimsoll.adapters.stores.object_store import ObjectStore


def simulated_place(cloud: Cloud, duration: str, folder: Path, store: ObjectStore | None) -> Place:
    """Return three nodes and the load's host; without a store, one in the cloud's bucket."""
    moments, faults = Moments(), Faults(folder / "faults")
    # A look is some seconds after the one before: a load goes on until a death shows.
    load = StruckLoadGenerator(faults, moments, looks=1 + round(cloud.lag.terminations / 5))
    product = StruckProduct(faults, moments)
    account = Account(cloud.endpoint, keygen(folder / "id"))
    connect = reached(folder / "hosts", cloud, moments.silent)
    clock = CloudClock(cloud)
    return place_on(cloud, account, clock, connect, product=product, load=load, duration=duration, store=store)
