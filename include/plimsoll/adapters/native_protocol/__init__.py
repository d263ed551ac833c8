"""A client of CQL's native protocol for the few statements that Plimsoll itself sends to a database of somebody else.

The load generator has a driver, in Java. This one starts at once, wherever Plimsoll runs, and says of every fault what
it is.

A connection to one node, which sends one statement after the other. TLS checks whom a certificate is signed by
and the name that was asked for; an error says whose it is to mend.
"""

import os
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Self

from plimsoll.adapters.native_protocol import frames
from plimsoll.adapters.native_protocol.frames import NotTheProtocol, Opcode, Reader
from plimsoll.domain.text.errors import ProviderError
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.secrets import AccessNames, DatabaseAccess

CONNECT_S, ANSWER_S = 5.0, 20.0
SCHEMA_CHANGE_S = 60.0
"""The time that a change of the schema may take: as long as the slowest node."""

# OpenSSL's numbers, of `openssl verify`.
_OTHER_HOSTS = (62, 64)
_UNUSABLE = {
    9: "set the clocks of the node and of this machine",  # not valid yet
    10: "renew the node's certificate, or its authority's",  # expired
    23: "have a new certificate made for the node",  # revoked
}


class DatabaseRefused(ProviderError):
    """The database answered with an error: its code, and its own words."""

    def __init__(self, code: int, words: str, where: str) -> None:
        what = f"the database refuses: {shortened(' '.join(words.split()))}"
        super().__init__(what, where=where, mend="see the database's log")
        self.code = code


class Session:
    """A connection that has logged in, within ANSWER_S. Every error names the node, and how to mend it.

    `tls`: None for a connection in plain text. Raises ProviderError.
    """

    def __init__(self, node: str, port: int, access: DatabaseAccess, tls: ssl.SSLContext | None) -> None:
        self._where, self._access = f"{node}:{port}", access
        with ExitStack() as opened:
            self._socket = opened.enter_context(self._connected(node, port))
            self._until = time.monotonic() + ANSWER_S
            if tls is not None:
                self._socket = opened.enter_context(self._encrypted(self._socket, node, tls))
            self._log_in(is_encrypted=tls is not None)
            self._open = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def rows(self, statement: str, *, within_s: float = ANSWER_S) -> list[Mapping[str, str]]:
        """Return the rows that a statement asks for, or none. Raises ProviderError."""
        self._until = time.monotonic() + within_s
        opcode, reader = self._ask(frames.query(statement))
        if opcode != Opcode.RESULT:
            raise self._foreign()
        try:
            return frames.parse_rows(reader)
        except NotTheProtocol:
            raise self._foreign() from None

    def change(self, statement: str) -> None:
        """Carry out a change of the schema. Raises ProviderError."""
        self.rows(statement, within_s=SCHEMA_CHANGE_S)

    def _connected(self, node: str, port: int) -> socket.socket:
        try:
            return socket.create_connection((node, port), timeout=CONNECT_S)
        except socket.gaierror as error:
            raise self._error(f"no address is known for that name: {error.strerror}", "correct the name") from error
        # Python encodes names by IDNA, which refuses parts that are empty or longer than 63 letters
        except UnicodeError as error:
            raise self._error("is no name that can have an address", "correct the name") from error
        except OSError as error:
            what = f"does not accept a connection: {error.strerror or error}"
            raise self._error(what, "correct address and port, start the node, or let this machine reach it") from error

    def _encrypted(self, plain: socket.socket, node: str, tls: ssl.SSLContext) -> ssl.SSLSocket:
        plain.settimeout(self._left_s())
        try:
            return tls.wrap_socket(plain, server_hostname=node)
        except ssl.SSLCertVerificationError as error:
            raise self._error(*untrusted(error, self._access.names)) from error
        except OSError as error:  # of which TLS' own errors are a kind
            reason = getattr(error, "reason", "") or str(error)
            mend = "see that the database's client port speaks TLS, or write `tls: false`"
            other = f"no encrypted connection comes about: {reason}", mend
            raise self._error(*(rejected(reason, self._access) or other)) from error

    def _log_in(self, *, is_encrypted: bool) -> None:
        access = self._access
        try:
            opcode, _ = self._ask(frames.startup())
            if opcode == Opcode.AUTHENTICATE:
                if not access.user:
                    mend = f"name a `connection` in the definition's provider.options, and give {access.names.login}"
                    raise self._error("asks for a user and a password", mend)
                opcode, _ = self._ask(frames.credentials(access.user, access.password))
        except DatabaseRefused as error:
            if error.code == frames.BAD_CREDENTIALS:
                raise self._error("refuses user and password", f"correct {access.names.login}") from error
            raise
        except _Ended as error:
            what = f"accepts a connection and does not begin to speak CQL: {error.what}"
            own = f"see whether it asks for a client certificate, which you give by {access.names.certificate}"
            mends = own if is_encrypted else "it may expect `tls: true`"
            # With TLS 1.3 the handshake is over before a node refuses the client's certificate: its alert comes here
            other = what, f"{mends}, and that it is a database that speaks CQL"
            raise self._error(*(rejected(error.what, access) or other)) from error
        if opcode not in (Opcode.READY, Opcode.AUTH_SUCCESS):
            raise self._foreign()

    def _left_s(self) -> float:
        return max(0.001, self._until - time.monotonic())  # A timeout of 0 would mean not to wait at all

    def _ask(self, frame: bytes) -> tuple[int, Reader]:
        """Return opcode and body of the answer. Raises _Ended and other ProviderErrors."""
        try:
            self._socket.settimeout(self._left_s())
            self._socket.sendall(frame)
            opcode, flags, length = frames.parse_header(self._read(frames.HEADER.size))
            reader = frames.parse_body(flags, self._read(length))
            if opcode == Opcode.ERROR:
                raise DatabaseRefused(reader.number(), reader.string(), self._where)
            return opcode, reader
        except NotTheProtocol:
            raise self._foreign() from None
        except OSError as error:
            is_closed = isinstance(error, (ssl.SSLEOFError, ConnectionResetError, BrokenPipeError))
            reason = "the connection was closed" if is_closed else getattr(error, "reason", "") or str(error)
            raise _Ended(reason, where=self._where, mend="see the database's log, and the network between") from error

    def _read(self, length: int) -> bytes:
        """Return so many bytes, all of them within the time of the request, however slowly they come."""
        got = bytearray()
        while len(got) < length:
            self._socket.settimeout(self._left_s())
            block = self._socket.recv(min(1 << 16, length - len(got)))
            if not block:
                raise ConnectionResetError("the connection was closed")
            got += block
        return bytes(got)

    def _foreign(self) -> ProviderError:
        what = "answers, but not in CQL's native protocol: this is no Cassandra, or another of its ports"
        return self._error(what, "write address and port where clients of the database connect, usually 9042")

    def _error(self, what: str, mend: str) -> ProviderError:
        return ProviderError(what, where=self._where, mend=mend)


class _Ended(ProviderError):
    """The connection ended while an answer was awaited."""


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
            context.load_cert_chain(path, password=lambda: "")  # in the place of a question on the terminal
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


def untrusted(error: ssl.SSLCertVerificationError, names: AccessNames) -> tuple[str, str]:
    """Return why a node's certificate is refused, and how to mend it."""
    reason = error.verify_message.rstrip(".")
    if error.verify_code in _OTHER_HOSTS:
        mend = "write a contact point that the certificate names in its SAN, or have one made whose SAN names this one"
        return f"its certificate is of another host: {reason}", mend
    if error.verify_code in _UNUSABLE:
        return f"its certificate can't be used: {reason}", _UNUSABLE[error.verify_code]
    mend = f"put the certificate of the authority that signs the nodes' into {names.authority}"
    return f"its certificate is not trusted: {reason}", mend


def rejected(reason: str, access: DatabaseAccess) -> tuple[str, str] | None:
    """Return what a node has against the client's certificate, and how to mend it; None if it is something else."""
    # OpenSSL names an alert TLSV13_ALERT_… as an error's reason, and `tlsv13 alert …` in its text
    words, certificate_name = reason.upper().replace(" ", "_"), access.names.certificate
    if "ALERT" not in words or ("CERTIFICATE" not in words and "UNKNOWN_CA" not in words):
        return None
    if not access.certificate:
        return "asks for a client certificate", f"give {certificate_name}"
    if "EXPIRED" in words:
        return "says that the client's certificate has expired", f"renew {certificate_name}"
    mend = f"let an authority that the nodes trust sign {certificate_name}"
    return f"refuses the client's certificate: {reason}", mend
