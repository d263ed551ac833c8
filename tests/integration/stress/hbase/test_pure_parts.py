"""Row keys, regions and kinds of error of the client of HBase, without one."""

import zlib
from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize(("key", "plain"), [("user42", b"user42"), ("7", (7).to_bytes(8, "big"))])
def test_a_row_key_is_two_bytes_of_its_checksum_and_the_key(
    ask_hbase: Callable[..., Any], key: str, plain: bytes
) -> None:
    [told] = ask_hbase(f"key {key}")
    assert bytes.fromhex(told) == zlib.crc32(plain).to_bytes(4, "big")[:2] + plain


def test_regions_divide_the_two_bytes_evenly(ask_hbase: Callable[..., Any]) -> None:
    assert ask_hbase("splits 1", "splits 2", "splits 3") == ["", "8000", "5555 aaaa"]
    splits = [int(one, 16) for one in ask_hbase("splits 64")[0].split()]
    assert splits == [n * 1024 for n in range(1, 64)]


@pytest.mark.parametrize("word", ["-", "user", ""])
def test_every_region_gets_its_part_of_keys_that_follow_one_another(ask_hbase: Callable[..., Any], word: str) -> None:
    [told] = ask_hbase(f"spread {word or 'k'} 100000 64")
    least, most = map(int, told.split())
    assert 0.8 * 100_000 / 64 < least <= most < 1.2 * 100_000 / 64


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("late", "client_timeout"),
        ("slow", "client_timeout"),
        ("unended", "client_timeout"),
        ("refused", "connection"),
        ("closed", "connection"),
        ("reset", "connection"),
        ("broken", "connection"),
        ("full", "overloaded"),
        ("busy", "overloaded"),
        ("moved", "unavailable"),
        ("odd", "other"),
    ],
)
def test_an_error_is_of_the_kind_of_what_happened_however_deep_that_is(
    ask_hbase: Callable[..., Any], error: str, kind: str
) -> None:
    assert ask_hbase(f"kind {error}") == [kind]
