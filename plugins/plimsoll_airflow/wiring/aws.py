"""Clients of AWS by an Airflow connection: like the amazon provider's, for a tenth of the CPU time.

The provider itself takes half a second per client, and each task makes several. Two things take that time: parsing a
service's model, which botocore keeps for only one session, and searching the source of every caller for the user agent.
"""

from collections.abc import Iterable
from typing import Any

from plimsoll import __version__
from plimsoll.adapters.aws import client_config, new_session
from plimsoll_airflow.internals import aws as provider
from plimsoll_airflow.wiring.pacing import LOOKS_AT_ONCE

# A connection stays open for each look at a load; boto3's own ten would be opened anew all the time.
CONFIG = client_config(max_pool_connections=LOOKS_AT_ONCE, user_agent_extra=f"Plimsoll/{__version__}")
"""The settings of all clients."""


def client(connection: Any, service: str, region: str | None) -> Any:
    """Return a client with the connection's credentials, role, region, `endpoint_url` and certificates."""
    return provider.client(connection, service, region, CONFIG)


def warm_up(services: Iterable[Any]) -> None:
    """Parse the models of these services, so that processes forked from this one inherit them."""
    nobody = new_session(aws_access_key_id="nobody", aws_secret_access_key="nothing", region_name="us-east-1")  # noqa: S106
    for service in services:
        nobody.client(service)
