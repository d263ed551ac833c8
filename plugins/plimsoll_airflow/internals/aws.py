"""Clients of AWS by an Airflow connection: like the amazon provider's, for a tenth of the CPU time.

The provider itself takes half a second per client, and each task makes several. Two things take that time: parsing a
service's model, which botocore keeps for only one session, and searching the source of every caller for the user agent.
Read in Airflow 3.3.2, provider 9.39.0.
"""

from collections.abc import Iterable
from typing import Any

from airflow.providers.amazon.aws.hooks.base_aws import SessionFactory
from airflow.providers.amazon.aws.utils.connection_wrapper import AwsConnectionWrapper
from boto3.session import Session

from plimsoll import __version__
from plimsoll.adapters.aws import client_config, new_session
from plimsoll_airflow.wiring.core import LOOKS_AT_ONCE

# A connection stays open for each look at a load; boto3's own ten would be opened anew all the time.
CONFIG = client_config(max_pool_connections=LOOKS_AT_ONCE, user_agent_extra=f"Plimsoll/{__version__}")
"""The settings of all clients."""


def client(connection: Any, service: str, region: str | None) -> Any:
    """Return a client with the connection's credentials, role, region, `endpoint_url` and certificates.

    Uses `AwsConnectionWrapper`, which reads the connection, and `SessionFactory._create_basic_session`, the one place
    where the provider makes a session: its public hook makes one that parses the models of services anew.
    """
    wrapper = AwsConnectionWrapper(conn=connection, region_name=region, botocore_config=CONFIG)
    session = _Sessions(conn=wrapper, region_name=wrapper.region_name, config=CONFIG).create_session()
    endpoint = wrapper.get_service_endpoint_url(service_name=service)
    return session.client(service, endpoint_url=endpoint, config=CONFIG, verify=wrapper.verify)


def warm_up(services: Iterable[Any]) -> None:
    """Parse the models of these services, so that processes forked from this one inherit them."""
    nobody = new_session(aws_access_key_id="nobody", aws_secret_access_key="nothing", region_name="us-east-1")  # noqa: S106
    for service in services:
        nobody.client(service)


class _Sessions(SessionFactory):  # type: ignore[misc,valid-type]  # the class that Airflow's configuration names
    def _create_basic_session(self, session_kwargs: dict[str, Any]) -> Session:
        return new_session(**session_kwargs)
