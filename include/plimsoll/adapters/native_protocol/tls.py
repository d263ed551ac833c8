"""TLS with whom a database's certificates are signed by, and the name that was asked for."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.ports.secrets import DatabaseAccess


def tls_context(access: DatabaseAccess) -> ssl.SSLContext:
    """Return the context for connections, which verifies chain and name. ValueError for certificates that can't be
    read; its text has nothing of them.
    """
    try:
        context = ssl.create_default_context(cadata=access.authority or None)
    except (ssl.SSLError, ValueError) as error:
        raise ValueError("the authority's certificate is no certificate in PEM") from error
    context.hostname_checks_common_name = False  # a common name is a person's or anything; hosts stand in the SAN
    if not access.certificate:
        return context
    if not access.key:
        raise ValueError("there is a client certificate without its private key")
    try:
        # Python reads a client's certificate from files alone: this one is in memory, and gone with its descriptor.
        with _in_memory(f"{access.key}\n{access.certificate}") as path:
            context.load_cert_chain(path, password=_no_password)
    except (ssl.SSLError, OSError) as error:
        raise ValueError("client certificate and private key, as unencrypted PEM, do not fit together") from error
    return context


@contextmanager
def _in_memory(text: str) -> Iterator[str]:
    descriptor = os.memfd_create("plimsoll", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def _no_password() -> str:
    """Return an empty password in the place of a question on the terminal."""
    return ""
