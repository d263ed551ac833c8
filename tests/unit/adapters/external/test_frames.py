"""Frames of the native protocol, as its specification has them."""

import struct

import pytest

from plimsoll.adapters.native_protocol import frames
from plimsoll.adapters.native_protocol.frames import NotTheProtocol, Opcode, Reader

INET, VARCHAR, SET = 0x0010, 0x000D, 0x0022


def text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()


def value(content: bytes | None) -> bytes:
    return struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content


ROWS = b"".join(
    [
        struct.pack(">iii", 2, 1, 3),  # rows, one table for all columns, three columns
        *(text("system"), text("peers")),
        *(text("rpc_address"), struct.pack(">H", INET)),
        *(text("tokens"), struct.pack(">HH", SET, VARCHAR)),
        *(text("rack"), struct.pack(">H", VARCHAR)),
        struct.pack(">i", 2),
        *(value(bytes([10, 0, 0, 1])), value(b"\0"), value(b"rack1")),
        *(value(bytes(15) + b"\1"), value(None), value(None)),
    ]
)


def test_rows_have_texts_and_addresses_by_their_columns() -> None:
    first, second = frames.parse_rows(Reader(ROWS))
    assert (first["rpc_address"], first["rack"]) == ("10.0.0.1", "rack1")
    assert second == {"rpc_address": "::1"}


@pytest.mark.parametrize("length", range(0, len(ROWS), 7))
def test_rows_that_end_early_are_none(length: int) -> None:
    with pytest.raises(NotTheProtocol):
        frames.parse_rows(Reader(ROWS[:length]))


def test_what_a_web_server_says_is_no_frame() -> None:
    with pytest.raises(NotTheProtocol):
        frames.parse_header(b"HTTP/1.1 400 Bad Request"[: frames.HEADER.size])


def test_an_answer_that_is_too_large_is_not_read() -> None:
    with pytest.raises(NotTheProtocol):
        frames.parse_header(frames.HEADER.pack(0x84, 0, 0, Opcode.RESULT, frames.MOST_BYTES + 1))


def test_warnings_stand_before_the_body() -> None:
    body = struct.pack(">H", 1) + text("slow down") + struct.pack(">i", 0x0100) + text("Bad credentials")
    reader = frames.parse_body(0x08, body)
    assert (reader.number(), reader.string()) == (frames.BAD_CREDENTIALS, "Bad credentials")


def test_a_password_is_sent_as_sasl_plain() -> None:
    assert frames.credentials("me", "secret").endswith(b"\0\0\0\x0a\0me\0secret")


def rows_of(*parts: bytes) -> Reader:
    return Reader(struct.pack(">i", 2) + b"".join(parts))


ONE_TABLE = struct.pack(">i", 1)
NAMES = text("system") + text("peers")
HOSTILE = {
    "endless rows of nothing": rows_of(ONE_TABLE, struct.pack(">i", 0), NAMES, struct.pack(">i", 0x7FFFFFFF)),
    "fewer rows than none": rows_of(ONE_TABLE, struct.pack(">i", 0), NAMES, struct.pack(">i", -1)),
    "endless columns": rows_of(ONE_TABLE, struct.pack(">i", 0x7FFFFFFF), NAMES),
    "sets of sets without end": rows_of(
        ONE_TABLE, struct.pack(">i", 1), NAMES, text("deep"), struct.pack(">H", SET) * 5000, struct.pack(">H", VARCHAR)
    ),
    "an address of three bytes": rows_of(
        ONE_TABLE,
        struct.pack(">i", 1),
        NAMES,
        *(text("rpc_address"), struct.pack(">H", INET)),
        *(struct.pack(">i", 1), value(b"\1\2\3")),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_answer_that_would_take_memory_without_end_or_can_not_be_is_none(name: str) -> None:
    with pytest.raises(NotTheProtocol):
        frames.parse_rows(HOSTILE[name])
