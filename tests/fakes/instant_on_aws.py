"""Clusters on EC2 whose hosts are folders: what is asked of AWS is real, what is deployed and loaded is not.

`toolkit` is a factory for `PLIMSOLL_TOOLKIT`: the EC2 provider, its tariffs and the store are the product's own, with
Airflow's connections; databases and loads are instant, under the names that definitions have for the real ones.
"""

from pathlib import Path, PurePosixPath

from tests.fakes.hosts import FolderHost
from tests.fakes.instant import Faults, InstantLoadGenerator, InstantProduct, NoSampler

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.providers.ec2 import Connect, Ec2Provider, Ec2Tariffs
from plimsoll.adapters.providers.ec2.readiness import SharedHost
from plimsoll.adapters.providers.ssh import Target
from plimsoll.bootstrap import build_secrets, build_store, store_name
from plimsoll.domain.hosts.cluster import ClusterId, HostInfo
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.hosts.places import StoredPlaces
from plimsoll.services.retries import Outage
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings


def toolkit(settings: Settings) -> Toolkit:
    """Return everything that AWS sees is real."""
    clock, store, secrets = SystemClock(), build_store(settings), build_secrets(settings)
    outage = Outage(clock)
    records = StoredLaunches(store, outage)
    provider = Ec2Provider(
        secrets=secrets,
        clock=clock,
        connect=in_folders(settings.work),
        store=store_name(settings),
        log=print,
        launches=records,
    )
    faults = Faults(settings.work / "faults")
    return Toolkit(
        store=store,
        clock=clock,
        providers={provider.name: provider},
        tariffs={provider.name: Ec2Tariffs(secrets)},
        products={"cassandra": InstantProduct(faults, "cassandra")},
        load_generators={"plimsoll-stress": InstantLoadGenerator(faults)},
        sampler=NoSampler(),
        places=StoredPlaces(store, outage),
        write_kept_records=records.write_kept,
    )


def in_folders(work: Path) -> Connect:
    """Return a folder for each instance; user data has prepared it."""

    def connect(cluster_id: ClusterId, info: HostInfo, target: Target) -> SharedHost:
        host = FolderHost(work / f"ec2~{info.facts['instance_id']}" / info.name, info)
        host.write(PurePosixPath("prepared"), "ok\n")
        return host

    return connect
