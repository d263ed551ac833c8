import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from plimsoll.adapters.providers.local import subnets
from plimsoll.adapters.providers.local.subnets import (
    MOST_NODES,
    claim,
    claims_of,
    free_subnet,
    load_addresses,
    node_addresses,
    release,
)
from plimsoll.domain.text.errors import ProviderError

PORTS = (7000, 9042)


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    (tmp_path / "claims").mkdir()
    return tmp_path / "claims"


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Any]:
    def made(name: Any) -> Path:
        (tmp_path / name).mkdir()
        return tmp_path / name

    return made


def test_nodes_count_from_one_and_leave_out_the_load_host() -> None:
    assert node_addresses("127.20.3", 3) == ("127.20.3.1", "127.20.3.2", "127.20.3.3")
    assert node_addresses("127.20.3", 11)[8:] == ("127.20.3.9", "127.20.3.11", "127.20.3.12")
    assert load_addresses("127.20.3", 1) == ("127.20.3.10",)
    assert load_addresses("127.20.3", 3) == ("127.20.3.10", "127.20.3.211", "127.20.3.212")
    assert not set(load_addresses("127.20.3", 32)) & set(node_addresses("127.20.3", MOST_NODES))


def test_the_same_cluster_finds_the_same_subnet() -> None:
    assert free_subnet(frozenset(), "demo/a/1", 3) == free_subnet(frozenset(), "demo/a/1", 3)


def test_a_subnet_is_claimed_by_one_cluster(
    claims: Path, folder: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subnets, "candidates", lambda _: iter(["127.30.0", "127.30.1"]))
    assert claim(claims, folder("a"), 3) == "127.30.0"
    assert claim(claims, folder("b"), 3) == "127.30.1"
    with pytest.raises(ProviderError, match="claimed by another cluster"):
        claim(claims, folder("c"), 3)


def test_a_cluster_has_one_claim_however_often_it_asks(claims: Path, folder: Callable[..., Any]) -> None:
    place = folder("a")
    assert claim(claims, place, 3) == claim(claims, place, 3)
    assert len(claims_of(claims, place)) == 1


def test_the_claim_of_a_cluster_that_is_gone_is_free(
    claims: Path, folder: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subnets, "candidates", lambda _: iter(["127.30.0"]))
    place = folder("a")
    claim(claims, place, 3)
    place.rmdir()
    assert claim(claims, folder("b"), 3) == "127.30.0"
    assert claims_of(claims, place) == []


def test_a_released_subnet_is_free(claims: Path, folder: Callable[..., Any]) -> None:
    place = folder("a")
    claim(claims, place, 3)
    release(claims, place)
    assert list(claims.iterdir()) == []


def test_a_claim_that_another_gives_back_meanwhile_is_nobodys(claims: Path, folder: Callable[..., Any]) -> None:
    place = folder("a")
    subnet = claim(claims, place, 3)
    (claims / "127.16.0").symlink_to("given-back")  # listed, and gone when it is read
    assert claims_of(claims, place) == [claims / subnet]
    release(claims, place)
    assert claim(claims, folder("b"), 3)


def test_a_subnet_with_a_port_in_use_is_passed_over() -> None:
    first = free_subnet(frozenset(), "demo/a/1", 3)
    with socket.create_server((f"{first}.2", 9042)):
        assert free_subnet(frozenset(), "demo/a/1", 3, ports=PORTS) != first


def test_ports_in_use_everywhere_are_said_with_who_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subnets, "candidates", lambda _: iter(["127.30.0"]))
    with socket.create_server(("127.30.0.1", 7000)), pytest.raises(ProviderError) as refused:
        free_subnet(frozenset(), "seed", 3, ports=PORTS)
    assert "127.30.0.1:7000 is in use by" in refused.value.what
    assert "ss -ltnp" in refused.value.mend


def test_a_port_in_use_is_said_also_where_the_process_ends_before_its_name_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(pid: int) -> psutil.Process:
        raise psutil.NoSuchProcess(pid)

    monkeypatch.setattr(subnets, "candidates", lambda _: iter(["127.30.0"]))
    with socket.create_server(("127.30.0.1", 7000)):
        monkeypatch.setattr(psutil, "Process", gone)
        with pytest.raises(ProviderError, match=r"127\.30\.0\.1:7000 is in use by an unknown program"):
            free_subnet(frozenset(), "seed", 3, ports=PORTS)


def test_addresses_that_can_not_be_bound_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subnets, "candidates", lambda _: iter(["192.0.2"]))
    with pytest.raises(ProviderError, match=r"192\.0\.2\.1:7000 can't be bound"):
        free_subnet(frozenset(), "seed", 3, ports=PORTS)
