"""Make sessions from a connection as the amazon provider does. Read in Airflow 3.3.2, provider 9.39.0."""

from typing import Any

from airflow.providers.amazon.aws.hooks.base_aws import SessionFactory
from airflow.providers.amazon.aws.utils.connection_wrapper import AwsConnectionWrapper
from boto3.session import Session
from botocore.config import Config

from plimsoll.adapters.aws import new_session


def client(connection: Any, service: str, region: str | None, config: Config) -> Any:
    """Return a client with the connection's credentials, role, region, `endpoint_url` and certificates.

    Uses `AwsConnectionWrapper`, which reads the connection, and `SessionFactory._create_basic_session`, the one place
    where the provider makes a session: its public hook makes one that parses the models of services anew.
    """
    wrapper = AwsConnectionWrapper(conn=connection, region_name=region, botocore_config=config)
    session = _Sessions(conn=wrapper, region_name=wrapper.region_name, config=config).create_session()
    endpoint = wrapper.get_service_endpoint_url(service_name=service)
    return session.client(service, endpoint_url=endpoint, config=config, verify=wrapper.verify)


class _Sessions(SessionFactory):  # type: ignore[misc,valid-type]  # the class that Airflow's configuration names
    def _create_basic_session(self, session_kwargs: dict[str, Any]) -> Session:
        return new_session(**session_kwargs)
