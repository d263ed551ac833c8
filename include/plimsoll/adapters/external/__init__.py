"""A database that somebody else runs: where it is, what it tells of itself, and what a load makes there."""

from plimsoll.adapters.external.database import Database, Databases
from plimsoll.adapters.external.endpoint import Endpoint, Endpoints
from plimsoll.adapters.external.endpoint_options import EndpointOptions, TheirDatabase, read_options
from plimsoll.adapters.external.observe import Observe
from plimsoll.adapters.external.options import ExternalOptions

__all__ = [
    "Database",
    "Databases",
    "Endpoint",
    "EndpointOptions",
    "Endpoints",
    "ExternalOptions",
    "Observe",
    "TheirDatabase",
    "read_options",
]
