"""Keys from the user's environment: one SSH key file, and the AWS credentials that boto3 finds by itself."""

from pathlib import Path
from typing import Any

from plimsoll.domain.errors import SecretError
from plimsoll.ports.secrets import AwsAccess, SshIdentity


class EnvironmentSecrets:
    """An implementation of the Secrets port. It has one key and one account; errors name the connection's id.

    AWS: boto3's own chain (`AWS_PROFILE`, `AWS_ACCESS_KEY_ID`, …, `AWS_ENDPOINT_URL`).
    """

    def __init__(self, ssh_key: Path | None, ssh_user: str = "") -> None:
        self._ssh_key, self._ssh_user = ssh_key, ssh_user

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        """Return the key in the named file."""
        if self._ssh_key is None:
            mend = "set PLIMSOLL_SSH_KEY to the file of your private key"
            raise SecretError("no SSH key is known", where=f"connection {connection_id!r}", mend=mend)
        try:
            return SshIdentity(self._ssh_user, self._ssh_key.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            mend = "set PLIMSOLL_SSH_KEY to the file of a private key that you may read"
            raise SecretError(f"the SSH key can't be read: {error}", where=str(self._ssh_key), mend=mend) from error

    def aws(self, connection_id: str) -> AwsAccess:  # noqa: ARG002 - the account is the environment's
        """Return the access that boto3 finds in the environment."""
        return AwsAccess(_client)


def _client(service: str, region: str | None) -> Any:
    from botocore.exceptions import BotoCoreError

    from plimsoll.adapters.aws.sessions import client_config, new_session

    # A session of its own: the default one of boto3 is not to be shared between threads while it is made.
    try:
        session: Any = new_session()
        return session.client(service, region_name=region, config=client_config())
    except (BotoCoreError, ValueError) as error:
        mend = "name a region in the definition, and check AWS_PROFILE and AWS_ENDPOINT_URL"
        raise SecretError(f"no client for {service}: {error}", where=f"AWS region {region}", mend=mend) from error
