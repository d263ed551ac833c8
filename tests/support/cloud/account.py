"""The test cloud's account, and one SSH key, for Plimsoll's own providers and store."""

from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from tests.cloud.cloud import REGION

from plimsoll.ports.secrets import AwsAccess, SshIdentity

_SESSION: Any = boto3.session.Session(aws_access_key_id="t", aws_secret_access_key="t")
"""One session for all clients. It caches the service models, which take a third of a second to read."""


class Account:
    """Implements the Secrets port with the key of that file, and clients with the retries that Plimsoll's own have."""

    def __init__(self, endpoint: str, key: Path) -> None:
        self._endpoint, self._key = endpoint, key

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        """Return the key. The provider says for which user."""
        return SshIdentity("plimsoll", self._key.read_text())

    def aws(self, connection_id: str) -> AwsAccess:
        """Return the account."""
        return AwsAccess(self.client)

    def client(self, service: str, region: str | None = None) -> Any:
        """Return a boto3 client of the cloud."""
        config = Config(retries={"mode": "standard", "total_max_attempts": 8}, connect_timeout=5, read_timeout=20)
        return _SESSION.client(service, region_name=region or REGION, endpoint_url=self._endpoint, config=config)
