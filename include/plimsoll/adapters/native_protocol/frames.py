"""The frames of CQL's native protocol, version 4. Pure.

Source: `doc/native_protocol_v4.spec` of Apache Cassandra, which 2.2 to 5.0 speak, and ScyllaDB.
"""

import struct
from collections.abc import Mapping
from enum import IntEnum
from ipaddress import ip_address

MOST_BYTES = 16 << 20
"""The greatest size of an answer. Those to Plimsoll's own statements have some KB."""
HEADER = struct.Struct(">BBhBI")
"""Version, flags, stream, opcode, length of the body."""
BAD_CREDENTIALS, UNAUTHORIZED, ALREADY_EXISTS = 0x0100, 0x2100, 0x2400

_REQUEST, _ANSWER = 0x04, 0x84
_TRACED, _PAYLOAD, _WARNED = 0x02, 0x04, 0x08
_ONE = 0x0001
_ROWS = 0x0002
_GLOBAL_TABLE, _MORE_PAGES = 0x0001, 0x0002
_TEXTS, _INET = (0x0001, 0x000D), 0x0010
# Far beyond what any answer to Plimsoll's own statements has. Without them some bytes could ask for endless memory.
_MOST_ROWS, _MOST_COLUMNS, _DEEPEST_TYPE = 10_000, 100, 8
_CUSTOM, _LIST, _MAP, _SET, _UDT, _TUPLE = 0x0000, 0x0020, 0x0021, 0x0022, 0x0030, 0x0031


class Opcode(IntEnum):
    """The kinds of frames."""

    ERROR = 0x00
    STARTUP = 0x01
    READY = 0x02
    AUTHENTICATE = 0x03
    QUERY = 0x07
    RESULT = 0x08
    AUTH_RESPONSE = 0x0F
    AUTH_SUCCESS = 0x10


class NotTheProtocol(Exception):
    """Whoever answers speaks something else."""


def request(opcode: Opcode, body: bytes) -> bytes:
    return HEADER.pack(_REQUEST, 0, 0, opcode, len(body)) + body


def startup() -> bytes:
    """Return the first frame of a connection."""
    return request(Opcode.STARTUP, struct.pack(">H", 1) + _string("CQL_VERSION") + _string("3.0.0"))


def credentials(user: str, password: str) -> bytes:
    """Return the answer to a request for a password: SASL PLAIN, RFC 4616."""
    token = b"\0" + user.encode() + b"\0" + password.encode()
    return request(Opcode.AUTH_RESPONSE, struct.pack(">i", len(token)) + token)


def query(statement: str) -> bytes:
    """Return the request for a statement at consistency ONE, for all rows at once."""
    text = statement.encode()
    return request(Opcode.QUERY, struct.pack(">I", len(text)) + text + struct.pack(">HB", _ONE, 0))


def parse_header(header: bytes) -> tuple[int, int, int]:
    """Return opcode, flags and length of the body that follows. Raises NotTheProtocol."""
    version, flags, _, opcode, length = HEADER.unpack(header)
    if version & 0x80 != 0x80 or version & 0x7F not in (3, 4, 5) or length > MOST_BYTES:
        raise NotTheProtocol
    return opcode, flags, length


def parse_body(flags: int, body: bytes) -> "Reader":
    """Return the body behind what flags put before it: of an error its code, and the database's own words."""
    reader = Reader(body)
    if flags & _TRACED:
        reader.take(16)
    # Warnings stand before a payload, although their flag is the higher bit
    if flags & _WARNED:
        for _ in range(reader.short()):
            reader.string()
    if flags & _PAYLOAD:
        for _ in range(reader.short()):
            reader.string()
            reader.value()
    return reader


def parse_rows(reader: "Reader") -> list[Mapping[str, str]]:
    """Return the rows of a result by their columns' names; texts and addresses alone, and without what is null.

    Raises NotTheProtocol, also for more rows and columns than any database has to tell.
    """
    if reader.number() != _ROWS:
        return []
    columns = _columns(reader)
    rows: list[Mapping[str, str]] = []
    for _ in range(_bounded(reader.number(), _MOST_ROWS)):
        values = [(name, kind, reader.value()) for name, kind in columns]
        rows.append({name: _shown(kind, value) for name, kind, value in values if value is not None})
    return rows


class Reader:
    """Reads a frame's body from its beginning. Raises NotTheProtocol at its end."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def take(self, length: int) -> bytes:
        taken = self._body[self._at : self._at + length]
        if length < 0 or len(taken) < length:
            raise NotTheProtocol
        self._at += length
        return taken

    def short(self) -> int:
        """Return an unsigned number of two bytes."""
        return int.from_bytes(self.take(2), "big")

    def number(self) -> int:
        """Return a number of four bytes."""
        return int.from_bytes(self.take(4), "big", signed=True)

    def string(self) -> str:
        """Return a text with its length before it."""
        return self.take(self.short()).decode(errors="replace")

    def value(self) -> bytes | None:
        """Return a value; None where it is null."""
        length = self.number()
        return None if length < 0 else self.take(length)


def _string(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _columns(reader: Reader) -> list[tuple[str, int]]:
    flags, count = reader.number(), reader.number()
    if flags & _MORE_PAGES:
        reader.value()
    is_global = flags & _GLOBAL_TABLE
    if is_global:
        _skip_table(reader)
    columns = []
    for _ in range(_bounded(count, _MOST_COLUMNS)):
        if not is_global:
            _skip_table(reader)
        columns.append((reader.string(), _type(reader, _DEEPEST_TYPE)))
    return columns


def _bounded(count: int, most: int) -> int:
    if not 0 <= count <= most:
        raise NotTheProtocol
    return count


def _skip_table(reader: Reader) -> None:
    """Read the names of keyspace and table."""
    for _ in range(2):
        reader.string()


def _type(reader: Reader, deepest: int) -> int:
    """Return the number of a column's type, and read what belongs to it: at most so many types within types."""
    kind = reader.short()
    if kind == _CUSTOM:
        reader.string()
    elif kind == _UDT or not deepest:
        raise NotTheProtocol  # no table that Plimsoll reads has one
    of_parts = {_LIST: 1, _SET: 1, _MAP: 2}
    for _ in range(reader.short() if kind == _TUPLE else of_parts.get(kind, 0)):
        _type(reader, deepest - 1)
    return kind


def _shown(kind: int, value: bytes) -> str:
    if kind == _INET:
        try:
            return str(ip_address(value))
        except ValueError:
            raise NotTheProtocol from None
    return value.decode(errors="replace") if kind in _TEXTS else value.hex()
