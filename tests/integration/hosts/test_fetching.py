"""Bundles that hosts fetch from the store themselves: staged once, whole, and sent where they can't be fetched."""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.support.ssh.host_folder import INFO, MIB, make_folder
from tests.support.ssh.sshd import KeyPair, OneKey, Sshd
from tests.support.stores.s3 import S3Service

from plimsoll.adapters.providers.ssh import Connections, Depot, SshHost, bundles
from plimsoll.adapters.stores.s3_store import S3Store


@pytest.fixture
def sshd(shared_sshd: Sshd) -> Sshd:
    return shared_sshd


@pytest.fixture
def depot(store: S3Store, tmp_path: Path) -> Depot:
    return Depot(store, lambda campaign_id: f"{campaign_id}/bundles", tmp_path / "locks")


@pytest.fixture
def bundle(tmp_path: Path) -> Any:
    return make_folder(tmp_path / "jdk", big=3 * MIB)


@pytest.fixture
def hosts(sshd: Sshd, user_key: KeyPair, tmp_path: Path, depot: Depot) -> Iterator[Callable[..., Any]]:
    """Make hosts with a folder each behind one sshd; none remembers what others did."""
    pools = []

    def host(name: Any, campaign: str = "campaign-1") -> SshHost:
        pools.append(Connections(OneKey(user_key.private)))
        root, connection = PurePosixPath(tmp_path / name), pools[-1].to(sshd.target())
        return SshHost(INFO, root, connection, staged=depot.of_campaign(campaign))

    yield host
    for pool in pools:
        pool.close()


def test_a_bundle_is_staged_once_and_fetched_by_every_host(
    hosts: Callable[..., Any], bundle: Path, service: S3Service, sent: list[Any]
) -> None:
    places = [hosts(name).install(bundle) for name in ("a", "b")]
    assert sent == []
    assert service.called("PUT", "/bundles/") == 1
    assert service.called("GET", "/bundles/") == 2
    for place in places:
        assert (Path(place) / "big.jar").read_bytes() == (bundle / "big.jar").read_bytes()
        assert os.access(place / "bin" / "java", os.X_OK)


def test_a_host_that_has_it_fetches_nothing(hosts: Callable[..., Any], bundle: Path, service: S3Service) -> None:
    assert hosts("a").install(bundle) == hosts("a").install(bundle)
    assert service.called("GET", "/bundles/") == 1


def test_it_is_staged_under_the_name_of_its_content(hosts: Callable[..., Any], bundle: Path, store: S3Store) -> None:
    hosts("a").install(bundle)
    [key] = store.keys("campaign-1/bundles")
    assert key == f"campaign-1/bundles/jdk-{bundles.bundle_of(bundle).digest}.tar"
    (bundle / "big.jar").write_bytes(b"changed")
    hosts("a").install(bundle)
    hosts("b", "campaign-2").install(bundle)
    assert len(list(store.keys("campaign-1/bundles"))) == 2
    assert len(list(store.keys("campaign-2/bundles"))) == 1


@pytest.mark.parametrize("machines", [1, 4])
def test_of_many_who_stage_at_once_the_store_takes_one(
    bundle: Path, store: S3Store, service: S3Service, tmp_path: Path, machines: int
) -> None:
    made = bundles.bundle_of(bundle)
    depots = [Depot(store, lambda _: "x", tmp_path / str(number % machines)) for number in range(4)]
    threads = [threading.Thread(target=lambda one=one: one.of_campaign("x")(made)) for one in depots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(store.keys(""))) == 1
    if machines == 1:
        assert service.called("PUT", "/x/") == 1


@pytest.mark.parametrize("fault", ["half", "503", "lost"])
def test_an_interrupted_transfer_is_begun_again(
    hosts: Callable[..., Any], bundle: Path, service: S3Service, sent: list[Any], fault: str
) -> None:
    service.faults = [fault]
    place = Path(hosts("a").install(bundle))
    assert sent == []
    assert (place / "big.jar").read_bytes() == (bundle / "big.jar").read_bytes()
    assert service.called("GET", "/bundles/") == 2


def test_an_archive_with_another_content_is_noticed(
    hosts: Callable[..., Any], bundle: Path, store: S3Store, sent: list[Any]
) -> None:
    """What the store holds is not believed: every file is verified, and what differs is sent."""
    hosts("a").install(bundle)
    [key] = store.keys("campaign-1/bundles")
    store.write(key, store.read(key).replace((bundle / "big.jar").read_bytes()[:4096], bytes(4096)))
    place = Path(hosts("b").install(bundle))
    assert sent == ["big.jar"]
    assert (place / "big.jar").read_bytes() == (bundle / "big.jar").read_bytes()


def test_a_host_that_is_refused_is_sent_it_and_no_secret_is_told(
    hosts: Callable[..., Any], bundle: Path, service: S3Service, sent: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    service.faults = ["403"]
    with caplog.at_level(logging.DEBUG, logger="plimsoll"):
        hosts("a").install(bundle)
    assert sorted(sent) == ["big.jar", "bin/java"]
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert "the store answers 403 (Told)" in logged
    assert "Amz" not in logged


def test_a_host_without_a_way_to_the_store_asks_once(
    hosts: Callable[..., Any], bundle: Path, service: S3Service, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    host = hosts("a")
    monkeypatch.setattr(S3Store, "download_url", lambda *_: "http://127.0.0.1:1/nothing")
    monkeypatch.setattr("plimsoll.adapters.providers.ssh.host.FETCH", timedelta(0))
    host.install(bundle)
    (bundle / "big.jar").write_bytes(b"changed")
    requests = service.called("HEAD", "/bundles/")
    host.install(bundle)
    assert service.called("HEAD", "/bundles/") == requests
    assert sent.count("big.jar") == 2


def test_the_url_is_on_no_command_line(
    hosts: Callable[..., Any], bundle: Path, service: S3Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = []
    execute = Connections.to

    def noting(pool: Any, target: Any) -> Any:
        connection = execute(pool, target)
        run = connection.execute

        def noted(command: Any, **rest: Any) -> Any:
            lines.append(command)
            return run(command, **rest)

        monkeypatch.setattr(connection, "execute", noted)
        return connection

    monkeypatch.setattr(Connections, "to", noting)
    hosts("a").install(bundle)
    assert any("fetch" in line for line in lines)
    assert not any("Amz" in line or service.endpoint in line for line in lines)
