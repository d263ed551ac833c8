"""Open one connection: reach the host in time, verify its key, log in by a private key. Errors say why a host is not
used.
"""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import StringIO

import paramiko

from plimsoll.adapters.hosts.reached import HostKey, Target, parse_host_key
from plimsoll.domain.text.errors import HostError, HostsLost, ProviderError, SecretError, Unreachable
from plimsoll.ports.secrets import SshIdentity

LOST = (paramiko.SSHException, EOFError, OSError)
"""The errors that paramiko raises when a connection does not come about or breaks."""

CONNECT_S, HANDSHAKE_S, AUTH_S = 10.0, 20.0, 20.0
"""The time that a host may take to accept a connection, to agree on its keys, and to let the user in, s."""
# The kernel notices a cut link by data that nobody acknowledges, so an idle connection must send some
_KEEP_ALIVE_S = 15
# Unanswered that long, the kernel gives the connection up; without it a cut link is noticed after a quarter of an hour.
_UNANSWERED_MS = 45_000
# How long paramiko's thread sleeps on an idle connection; its own 0.1 s costs, over hundreds of connections, a core.
# Shorter than _KEEP_ALIVE_S, as the thread sends keep-alive messages only when it wakes.
_IDLE_S = 5.0
_LOG = "plimsoll.ssh"
_KINDS: tuple[type[paramiko.PKey], ...] = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)


def private_key(identity: SshIdentity, connection_id: str) -> paramiko.PKey:
    """Parse a private key. Raises SecretError, which never contains the text."""
    where = f"connection {connection_id!r}"
    for kind in _KINDS:
        try:
            return kind.from_private_key(StringIO(identity.private_key), identity.passphrase or None)
        except paramiko.PasswordRequiredException:
            mend = "give its passphrase in the connection, or a key without one"
            # No cause: what a parser complains of may quote the key.
            raise SecretError("the private key is locked by a passphrase", where=where, mend=mend) from None
        except Exception:  # noqa: S112 - of a text that is damaged it raises even IndexError; what it says may quote it
            continue
    what = "its private key can't be used: no Ed25519, ECDSA or RSA key, or the passphrase is wrong"
    raise SecretError(what, where=where, mend="give an OpenSSH or PEM private key, whole, with its line ends")


def authorized_key(identity: SshIdentity, connection_id: str) -> str:
    """Return the line of `authorized_keys` for the identity. Raises SecretError when its key can't be read."""
    key = private_key(identity, connection_id)
    return f"{key.get_name()} {key.get_base64()}"


class WrongHostKey(HostError):
    """Another host than the expected one answers. Unlike `Unreachable`, this is permanent."""


class KeyRefused(HostError):
    """The host does not allow this user to log in with this key. Unlike `Unreachable`, this is permanent."""


# What it has to say comes as an error, with the host's name; its tracebacks are for its own developers.
logging.getLogger(_LOG).addHandler(logging.NullHandler())
logging.getLogger(_LOG).propagate = False


def open_transport(target: Target, identity: SshIdentity) -> paramiko.Transport:
    """Return a connection that is ready for use. Raises Unreachable, WrongHostKey, KeyRefused, SecretError."""
    expected = parse_host_key(target.host_key)
    key = private_key(identity, target.connection_id)
    transport = _connected(target)
    try:
        _greet(transport, target, expected)
        _log_in(transport, target, target.user or identity.user, key)
    except BaseException:
        close(transport)
        raise
    transport.set_keepalive(_KEEP_ALIVE_S)
    return transport


def close(transport: paramiko.Transport) -> None:
    """End a connection without waiting for its thread to notice."""
    # Wakes paramiko's thread, which may sleep in `recv` for as long as _IDLE_S
    with suppress(OSError):  # it is gone already
        transport.sock.shutdown(socket.SHUT_RDWR)
    transport.close()


def _connected(target: Target) -> paramiko.Transport:
    try:
        connection = socket.create_connection((target.address, target.port), timeout=CONNECT_S)
    except OSError as error:
        raise unreachable(f"host {target.place}", error) from error
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNANSWERED_MS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    transport = paramiko.Transport(connection)
    # Only here, because the constructor sets paramiko's own 0.1 s
    connection.settimeout(_IDLE_S)
    transport.set_log_channel(_LOG)
    transport.auth_timeout = AUTH_S
    transport.banner_timeout = HANDSHAKE_S
    return transport


def _greet(transport: paramiko.Transport, target: Target, expected: HostKey) -> None:
    """Negotiate the connection's keys, and verify the host's identity."""
    where, options = f"host {target.place}", transport.get_security_options()
    # The expected kind first: a host that has it then proves itself with it. Any other is only asked for to be named.
    options.key_types = (*expected.algorithms, *(name for name in options.key_types if name not in expected.algorithms))
    try:
        transport.start_client(timeout=HANDSHAKE_S)
        presented = transport.get_remote_server_key()
    except LOST as error:
        raise unreachable(where, error) from error
    shown = HostKey(presented.get_name(), presented.asbytes())
    if shown != expected:
        raise WrongHostKey(
            f"its host key is not the expected one: expected {expected}, found {shown}",
            where=where,
            mend="if the host was installed anew, put its public key (there in /etc/ssh/ssh_host_*_key.pub; compare "
            "it on the host itself) where the old one stands; else something else answers at that address: find out "
            "what before you go on",
        )


def _log_in(transport: paramiko.Transport, target: Target, user: str, key: paramiko.PKey) -> None:
    where = f"host {target.place}"
    if not user:
        mend = "name a user in the definition's host, or in the connection"
        raise KeyRefused("nobody is named who could log in", where=where, mend=mend)
    try:
        transport.auth_publickey(user, key)
    except paramiko.AuthenticationException as error:
        if not transport.is_active() or not _has_answered(transport):  # the link broke in between, or the host is slow
            raise unreachable(where, error) from error
        shown = HostKey(key.get_name(), key.asbytes())
        what = f"it does not let {user} in with the key {shown} of connection {target.connection_id!r}"
        mend = f"add that key's public part to ~{user}/.ssh/authorized_keys on the host, or mend user or connection"
        raise KeyRefused(what, where=where, mend=mend) from error
    except LOST as error:
        raise unreachable(where, error) from error


def _has_answered(transport: paramiko.Transport) -> bool:
    """Tell whether the host has decided on the login. paramiko raises the same error where it has not in time."""
    handler = transport.auth_handler
    decided = handler.auth_event if handler else None
    return decided is None or decided.is_set()


def unreachable(where: str, error: BaseException) -> Unreachable:
    reason = str(error) or type(error).__name__
    mend = "see that the host is up, that sshd listens there and that no firewall is between"
    return Unreachable(f"can't be reached: {reason}", where=where, mend=mend)


@contextmanager
def explained() -> Iterator[None]:
    """Raise errors of hosts inside the block as those of their provider."""
    try:
        yield
    except (HostError, SecretError) as error:
        raise as_provider_error(error) from error


def as_provider_error(error: HostError | SecretError) -> ProviderError:
    """Return the provider's error for a host that can't be used: HostsLost where it does not answer."""
    kind = HostsLost if isinstance(error, Unreachable) else ProviderError
    return kind(error.what, where=error.where, mend=error.mend)
