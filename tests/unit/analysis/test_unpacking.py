import gzip
import tracemalloc
import zlib

import pytest
from tests.support.campaigns.interval_logs import every_second, log, packed

from plimsoll.analysis.logs.hdr import hdrlog
from plimsoll.analysis.logs.hdr.hdrlog import read_log
from plimsoll.analysis.logs.hdr.record_line import inflate
from plimsoll.analysis.logs.unpacking import require_bounded, unpacked
from plimsoll.domain.text.errors import LogError

MIB = 1 << 20


def bomb(mebibytes: int) -> bytes:
    """Return a small gz of so many MiB of nothing."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(MIB)) for _ in range(mebibytes)), packer.flush()])


def test_members_of_any_length_are_read_as_gzip_reads_them() -> None:
    parts = [b"a" * 70_000, b"", bytes(range(256)) * 999, b"end"]
    data = b"".join(gzip.compress(part) for part in parts)
    assert unpacked(data, "x") == (b"".join(parts), False)
    assert unpacked(data + bytes(70_000) + data, "x") == (b"".join(parts) * 2, False)
    assert unpacked(data + bytes(70_000), "x") == (b"".join(parts), False)
    assert unpacked(b"plain", "x") == (b"plain", False)


def test_a_log_that_goes_on_unpacked_is_refused() -> None:
    """As one does to which the newest, plain lines were added."""
    packed = gzip.compress(b"a" * 70_000)
    for data in (packed + b"plain", packed + bytes(9) + b"plain", packed + bytes(1 << 20) + b"plain"):
        with pytest.raises(LogError, match="x: goes on after its gz with what is no gz"):
            unpacked(data, "x")


@pytest.mark.parametrize("missing", [1, 9, 20])
def test_a_gz_that_ends_early_is_read_as_far_as_it_goes(missing: int) -> None:
    text, cut_short = unpacked(gzip.compress(b"abc" * 1000, 0)[:-missing], "x")
    assert (b"abc" * 1000).startswith(text)
    assert cut_short


@pytest.mark.parametrize("there", [1, 2, 9])
def test_a_gz_that_ends_early_in_its_second_member_is_read_as_far_as_it_goes(there: int) -> None:
    assert unpacked(gzip.compress(b"first") + gzip.compress(b"second")[:there], "x") == (b"first", True)


def test_what_unpacks_to_more_than_the_bound_is_refused_before_it_is_kept() -> None:
    data = bomb(200)
    assert len(data) < MIB
    tracemalloc.start()
    try:
        with pytest.raises(LogError, match="x: holds more than 100 MiB"):
            unpacked(data, "x", most=100 * MIB)
        assert tracemalloc.get_traced_memory()[1] < 150 * MIB
    finally:
        tracemalloc.stop()


def test_many_small_members_and_plain_files_count_too() -> None:
    with pytest.raises(LogError, match="more than 0 MiB"):
        unpacked(gzip.compress(b"a" * 600) * 2, "x", most=1000)
    with pytest.raises(LogError, match="more than 0 MiB"):
        unpacked(b"a" * 1001, "x", most=1000)


def test_the_files_of_a_run_are_bounded_together() -> None:
    files = [("a", bomb(60)), ("b", b"x" * MIB), ("c", bomb(60))]
    require_bounded(files, most=121 * MIB)
    with pytest.raises(LogError, match="c: with this file, those of its run hold more than 120 MiB together"):
        require_bounded(files, most=120 * MIB)


def test_a_histogram_that_unpacks_to_more_than_any_holds_is_none() -> None:
    with pytest.raises(ValueError, match="is larger than any histogram"):
        inflate(packed(bytes(65 * MIB)).encode())


def test_a_log_of_too_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdrlog, "MOST_LINES", 5)
    with pytest.raises(LogError, match="x: has more than 5 lines"):
        read_log(log(every_second([[1]] * 3)), "x")


def test_a_log_of_as_many_lines_as_may_be_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = log(every_second([[1]] * 3))
    monkeypatch.setattr(hdrlog, "MOST_LINES", whole.count(b"\n"))
    assert len(read_log(whole, "x").records) == 3
    monkeypatch.setattr(hdrlog, "MOST_LINES", whole.count(b"\n") - 1)
    assert len(read_log(whole[:-1], "x").records) == 3
    with pytest.raises(LogError, match="lines"):
        read_log(whole, "x")
