"""A database that somebody else runs, as a product of which nothing is deployed. Its machines may be looked at."""

from collections.abc import Mapping, Sequence
from copy import copy
from datetime import timedelta
from typing import Self

from pydantic import JsonValue

from plimsoll.adapters.external.database import Databases
from plimsoll.adapters.external.endpoint import Endpoints
from plimsoll.adapters.external.endpoint_options import EndpointOptions, TheirDatabase, read_options
from plimsoll.adapters.external.options import OWN_LOG, Observe
from plimsoll.adapters.hosts.following import FOLDER, GC_LOG, start_following, stop_following, why_ended
from plimsoll.adapters.products.nodes.node_state import node_fingerprint
from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.hosts.cluster import RUNS_AS
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ReportedNode
from plimsoll.domain.keys.process import Process
from plimsoll.domain.keys.system import EXTERNAL, NOT_KNOWN
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.text.errors import DeployError, Problem, ProviderError
from plimsoll.ports.host import Host
from plimsoll.ports.product import Evidence, Product


class ExternalProduct(Product):
    """Its provider checks whether it can be used. `read_by`: product → the reader of logs in its form.

    Its nodes are the machines that are looked at, if any. Their logs are followed from the deployment on, which is
    otherwise none.
    """

    name = EXTERNAL
    evidence = Evidence()

    def __init__(self, databases: Databases, endpoints: Endpoints, read_by: Mapping[str, Evidence]) -> None:
        self._databases, self._endpoints, self._read_by = databases, endpoints, read_by
        self._theirs: TheirDatabase | list[Problem] = []
        self._observe: Observe | None = None
        self._followed: Mapping[str, str] = {}

    def at(self, options: Mapping[str, JsonValue]) -> Self:
        bound, theirs = copy(self), read_options(options)
        bound._theirs, bound._observe = theirs, None if isinstance(theirs, list) else theirs.observe
        bound._followed = bound._observe.followed if bound._observe else {}
        if bound._observe and bound._observe.log:
            # The readers of the products that `of` can name do not ask for the name of a log's process
            bound.evidence = self._read_by[bound._observe.log.of]
        return bound

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return nothing: its provider asks the database itself."""
        return ()

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Follow the logs that are to be looked at, because the database is there."""
        for node in nodes:
            start_following(node, self._followed, expires)

    def processes(self, variant: Variant) -> Sequence[Process]:
        """Return what is known of the database by its logs, as one process."""
        if not self._followed:
            return ()
        log, gc_log = (name if name in self._followed else "" for name in (OWN_LOG, GC_LOG))
        return (Process("database", log=log, gc_log=gc_log, files=(f"{FOLDER}/*",)),)

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        """Return what the machines tell of themselves. What the database is, `reported` says."""
        return [self._looked_at(node_fingerprint(node, EXTERNAL, "", ())) for node in nodes]

    def _looked_at(self, node: NodeFingerprint) -> NodeFingerprint:
        """Return it without the disk of the samples' folder, since nobody has said where the data are, and with what
        the definition says of the machine in the place of how it is reached.
        """
        stated = {RUNS_AS, *(name for host in (self._observe.hosts if self._observe else ()) for name in host.facts)}
        provider = {name: fact for name, fact in node.facts.provider.items() if name in stated}
        known = {"data_disk": NOT_KNOWN, "data_disk_device": NOT_KNOWN, "provider": provider}
        return node.model_copy(update={"facts": node.facts.model_copy(update=known)})

    def reported(self, load: Host) -> Sequence[ReportedNode]:
        theirs = self._theirs
        if isinstance(theirs, list):
            raise DeployError("; ".join(map(str, theirs)), where=EXTERNAL, mend="correct the definition")
        try:
            if isinstance(theirs, EndpointOptions):
                return self._endpoints.of(theirs).nodes(load)
            return self._databases.of(theirs).nodes()
        except ProviderError as error:
            raise DeployError(error.what, where=error.where, mend=error.mend) from error

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return why what machines logged is not known whole. Whether nodes run, nobody here can see."""
        return [f"what {node.info.name} logged is not known: {why}" for node in nodes if (why := why_ended(node))]

    def save(self, node: Host) -> None:
        """End the following of logs, so that what was taken is whole."""
        stop_following(node)
