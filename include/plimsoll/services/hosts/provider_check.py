"""Try a provider with one host: what it promises is looked at, and everything is ended whatever was found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest
from plimsoll.domain.text.errors import PlimsollError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.controller import Clock
from plimsoll.ports.provider import Provider

# If this process is killed, the host lives no longer than that
_LIFE = timedelta(hours=1)


@dataclass(frozen=True)
class Looked:
    """One thing that was looked at. `mend` is empty where it is as it must be."""

    what: str
    mend: str = ""


def check_provider(
    provider: Provider, spec: HostsSpec, owner: str, clock: Clock, before_launch: Callable[[], None]
) -> Iterator[Looked]:
    """Yield what is found, as soon as it is. One load host is paid for while that lasts."""
    problems = provider.check(spec)
    yield from (Looked(f"{problem.where}: {problem.what}", problem.mend or "correct it") for problem in problems)
    if problems:
        return
    yield Looked("the options can be used, and what lives is listed")
    before_launch()
    cluster_id = ClusterId.of(f"provider-check-{uuid4().hex[:8]}", "host", 1)
    expires_at = clock.now() + _LIFE
    request = ClusterRequest(id=cluster_id, owner=owner, nodes=0, expires_at=expires_at, options=dict(spec.options))
    try:
        yield from _explained(_tried(provider, request))
    finally:
        left = f"; should the host live on: `plimsoll clusters destroy {cluster_id}`, or the reaper within an hour"
        yield from _explained(_ended(provider, cluster_id), left)


def _tried(provider: Provider, request: ClusterRequest) -> Iterator[Looked]:
    cluster = provider.ensure(request)
    yield Looked(f"a host was launched, listed, and let us in: {_hosts(cluster)}")
    if provider.ensure(request).hosts != cluster.hosts:
        yield Looked("asked again for the cluster, it gives other hosts", "give the same for the same id")
    shown = provider.find(request.id)
    if shown is None or shown.hosts != cluster.hosts:
        yield Looked("the cluster is not found as it was launched", "list what was launched, unchanged")
    if request.id not in {living.id for living in provider.clusters()}:
        yield Looked("the cluster is not among all that live", "list every host with its tags")
    asked = provider.host(cluster, cluster.load_host).run(["python3", "--version"], timeout=timedelta(minutes=1))
    yield Looked(f"a program runs on it: {asked.stdout.strip()}")
    if any(host.usd_per_hour is None for host in cluster.hosts):
        yield Looked("it has no price, so that `budget` can't be kept", "give `prices` in the options")


def _ended(provider: Provider, cluster_id: ClusterId) -> Iterator[Looked]:
    provider.destroy(cluster_id)
    left = [living for living in provider.clusters() if living.id == cluster_id]
    if left:
        yield Looked(f"after its end it is still listed: {_hosts(left[0])}", "end it by hand")
    else:
        yield Looked("it was ended, and nothing of it is listed")


def _explained(looks: Iterator[Looked], further: str = "") -> Iterator[Looked]:
    """Yield what is found, and what an error says of the provider, which ends the looks. `further`: its mend's end."""
    try:
        yield from looks
    except PlimsollError as error:
        where = f"{error.where}: " if error.where else ""
        yield Looked(f"{where}{error.what}", f"{error.mend or 'see what the programs say'}{further}")


def _hosts(cluster: Cluster) -> str:
    names = ", ".join(f"{host.name} ({host.identity})" for host in cluster.hosts)
    return f"{plural(len(cluster.hosts), 'host')}, {names}"
