"""Keys from Airflow's connections: SSH keys as the ssh provider keeps them, accounts as the amazon provider does."""

from pathlib import Path
from typing import Any

from plimsoll.domain.text.errors import SecretError
from plimsoll.ports.secrets import AwsAccess, DatabaseAccess, SshIdentity
from plimsoll.settings import Settings


def airflow_secrets(_: Settings) -> "AirflowSecrets":
    """Return the value for `PLIMSOLL_SECRETS` in Airflow's own processes."""
    return AirflowSecrets()


class AirflowSecrets:
    """An implementation of the ports Secrets and DatabaseSecrets. Nothing is cached: changes count at the next call."""

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        """Return a connection of type ssh: login, and extras `private_key` or `key_file`, `private_key_passphrase`."""
        connection = _connection(connection_id)
        extra = connection.extra_dejson
        return SshIdentity(
            user=connection.login or "",
            private_key=extra.get("private_key") or _from_file(connection_id, extra.get("key_file")),
            passphrase=extra.get("private_key_passphrase") or "",
        )

    def aws(self, connection_id: str) -> AwsAccess:
        """Return a connection of type aws, with everything the amazon provider reads from it, `endpoint_url` too."""

        def client(service: str, region: str | None) -> Any:
            from botocore.exceptions import BotoCoreError

            from plimsoll_airflow.internals import aws

            connection = _connection(connection_id)
            try:
                return aws.client(connection, service, region)
            except (BotoCoreError, ValueError) as error:
                mend = "name a region in the definition or in the connection, and check the connection's credentials"
                raise SecretError(
                    f"no client for {service}: {error}", where=f"connection {connection_id!r}", mend=mend
                ) from error

        return AwsAccess(client)

    def database(self, connection_id: str) -> DatabaseAccess:
        """Return a connection of any type: login, password, extras `authority`, `certificate`, `private_key` (PEM)."""
        connection = _connection(connection_id)
        authority, certificate, key = (
            str(connection.extra_dejson.get(name) or "") for name in ("authority", "certificate", "private_key")
        )
        return DatabaseAccess(connection.login or "", connection.password or "", authority, certificate, key)


def _connection(connection_id: str) -> Any:
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowRuntimeError

    from plimsoll_airflow.internals.moved import AirflowException

    try:
        return BaseHook.get_connection(connection_id)
    # Airflow says the same where no secrets backend answers
    except (AirflowException, AirflowRuntimeError) as error:
        mend = (
            "add it in the UI under Admin → Connections, or with `airflow connections add`; where it is there already, "
            "see whether Airflow's API server and secrets backend answer; a command in a shell sees those of the "
            "environment (AIRFLOW_CONN_…) and of a secrets backend alone"
        )
        raise SecretError("there is no such connection", where=f"connection {connection_id!r}", mend=mend) from error


def _from_file(connection_id: str, key_file: str | None) -> str:
    where = f"connection {connection_id!r}"
    if not key_file:
        mend = "put the private key into its extra `private_key`, or the file's path into `key_file`"
        raise SecretError("the connection has no private key", where=where, mend=mend)
    try:
        return Path(key_file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        mend = "give the user who runs Airflow the right to read it, or use the extra `private_key`"
        raise SecretError(f"its key file can't be read: {error}", where=where, mend=mend) from error
