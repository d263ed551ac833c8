"""How this process gets the secrets of a database that somebody else runs."""

import resource

from plimsoll.ports.secrets import DatabaseAccess, DatabaseSecrets


def access_of(secrets: DatabaseSecrets, connection: str) -> DatabaseAccess:
    """Return the connection's access; an empty one where none is named. Raises SecretError where it can't be had."""
    # A crash would leave what this process knows from now on in a file. Its children inherit that.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return secrets.database(connection) if connection else DatabaseAccess()
