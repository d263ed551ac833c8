"""Keys from the user's environment: one SSH key file, the AWS credentials that boto3 finds by itself, one database."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.domain.text.errors import SecretError
from plimsoll.ports.secrets import AccessNames, AwsAccess, DatabaseAccess, SshIdentity

_NAMES = AccessNames(
    login="PLIMSOLL_DATABASE_USER and PLIMSOLL_DATABASE_PASSWORD",
    authority="the file that PLIMSOLL_DATABASE_AUTHORITY names",
    certificate="the files that PLIMSOLL_DATABASE_CERTIFICATE and PLIMSOLL_DATABASE_KEY name",
)


@dataclass(frozen=True)
class DatabaseVariables:
    """The user of a database, and the files with its certificates, as `PLIMSOLL_DATABASE_…` name them."""

    user: str = ""
    password: str = field(default="", repr=False)
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


class EnvironmentSecrets:
    """An implementation of the ports Secrets and DatabaseSecrets. It has one key, one account and one database.

    Errors name the connection's id.

    AWS: boto3's own chain (`AWS_PROFILE`, `AWS_ACCESS_KEY_ID`, …, `AWS_ENDPOINT_URL`).
    """

    def __init__(
        self, ssh_key: Path | None, ssh_user: str = "", database: DatabaseVariables = DatabaseVariables()
    ) -> None:
        self._ssh_key, self._ssh_user, self._database = ssh_key, ssh_user, database

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        if self._ssh_key is None:
            mend = "set PLIMSOLL_SSH_KEY to the file of your private key"
            raise SecretError("no SSH key is known", where=f"connection {connection_id!r}", mend=mend)
        try:
            return SshIdentity(self._ssh_user, self._ssh_key.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            mend = "set PLIMSOLL_SSH_KEY to the file of a private key that you may read"
            raise SecretError(f"the SSH key can't be read: {error}", where=str(self._ssh_key), mend=mend) from error

    def aws(self, connection_id: str) -> AwsAccess:
        return AwsAccess(_client)

    def database(self, connection_id: str) -> DatabaseAccess:
        database = self._database
        files = {name: _pem(name, getattr(database, name)) for name in ("authority", "certificate", "key")}
        return DatabaseAccess(database.user, database.password, **files, names=_NAMES)


def _pem(name: str, file: Path | None) -> str:
    if file is None:
        return ""
    try:
        return file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        mend = f"set PLIMSOLL_DATABASE_{name.upper()} to a file in PEM that you may read"
        raise SecretError(f"can't be read: {error}", where=str(file), mend=mend) from error


def _client(service: str, region: str | None) -> Any:
    from botocore.exceptions import BotoCoreError

    from plimsoll.adapters.aws import client_config, new_session

    # A session of its own: the default one of boto3 is not to be shared between threads while it is made.
    try:
        session: Any = new_session()
        return session.client(service, region_name=region, config=client_config())
    except (BotoCoreError, ValueError) as error:
        mend = "name a region in the definition, and check AWS_PROFILE and AWS_ENDPOINT_URL"
        raise SecretError(f"no client for {service}: {error}", where=f"AWS region {region}", mend=mend) from error
