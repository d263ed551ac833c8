"""A database that somebody else runs, as a product of which nothing is deployed."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from pydantic import JsonValue

from plimsoll.adapters.external import Databases, EndpointOptions, Endpoints, read_options
from plimsoll.adapters.products.nodes.node_process import UnreadLogs
from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.hosts.fingerprint import NodeFingerprint, ReportedNode
from plimsoll.domain.keys.process import Process
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.text.errors import DeployError, Problem, ProviderError
from plimsoll.ports.host import Host
from plimsoll.ports.product import Evidence, Product


class ExternalProduct(Product):
    """No node of it is a host here, so it has no processes and no logs. Its provider checks whether it can be used."""

    name = EXTERNAL
    evidence: Evidence = UnreadLogs()

    def __init__(self, databases: Databases, endpoints: Endpoints) -> None:
        self._databases, self._endpoints = databases, endpoints

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return nothing: its provider asks the database itself."""
        return ()

    def deploy(self, spec: VariantSpec, nodes: Sequence[Host], load: Host, expires: timedelta) -> None:
        """Do nothing, because it is there."""

    def processes(self, variant: Variant) -> Sequence[Process]:
        """Return none, because nobody here knows them."""
        return ()

    def fingerprint(self, variant: Variant, nodes: Sequence[Host]) -> Sequence[NodeFingerprint]:
        """Return none, because no node can be asked as a host."""
        return ()

    def reported(self, options: Mapping[str, JsonValue], load: Host) -> Sequence[ReportedNode]:
        theirs = read_options(options)
        if isinstance(theirs, list):
            raise DeployError("; ".join(map(str, theirs)), where=EXTERNAL, mend="correct the definition")
        try:
            if isinstance(theirs, EndpointOptions):
                return self._endpoints.of(theirs).nodes(load)
            return self._databases.of(theirs).nodes()
        except ProviderError as error:
            raise DeployError(error.what, where=error.where, mend=error.mend) from error

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        """Return nothing: whether its nodes run, nobody here can see."""
        return ()
