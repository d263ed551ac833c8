"""Bundles that hosts fetch from the store themselves: staged once, whole, and sent where they can't be fetched."""

import logging
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import boto3
import pytest
from botocore.config import Config
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import s3_backends
from tests.integration.hosts.conftest import INFO
from tests.sshd import OneKey
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from plimsoll.adapters.s3_store import S3Store
from plimsoll.adapters.ssh import Connections, Depot, SshHost, bundles

MIB = 1 << 20


@dataclass
class Service:
    """moto's S3 on a loopback address. Answers to `GET` and `PUT` of files fail as `faults` say, one each."""

    endpoint: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _application: Any = field(default_factory=lambda: DomainDispatcherApplication(create_backend_app))

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        request = Request(environ)
        self.requests.append((request.method, request.path))
        fault = self.faults.pop(0) if self.faults and request.method in ("GET", "PUT") and _signed(request) else ""
        if fault == "half":
            whole = b"".join(self._application(environ, lambda *_: lambda _: None))
            return Response(whole[: len(whole) // 2])(environ, start_response)
        if fault == "lost":
            list(self._application(environ, lambda *_: lambda _: None))
            raise ConnectionResetError("the answer is lost")
        if fault:
            refusal = f"<Error><Code>Told</Code><Message>{request.url}</Message></Error>"
            return Response(refusal, int(fault))(environ, start_response)
        return self._application(environ, start_response)

    def called(self, method: str, part: str) -> int:
        return sum(one == method and part in path for one, path in self.requests)


def _signed(request: Request) -> bool:
    """By URL, as hosts do, not by header, as the controller does."""
    return "X-Amz-Signature" in request.args


@pytest.fixture
def service() -> Iterator[Service]:
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    service = Service()
    server = make_server("127.0.0.1", 0, service, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    service.endpoint = f"http://127.0.0.1:{server.server_port}"
    yield service
    server.shutdown()
    thread.join()
    server.server_close()
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].reset()


@pytest.fixture
def store(service: Service) -> S3Store:
    made = boto3.client(
        "s3",
        region_name="us-east-1",
        endpoint_url=service.endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
    )
    made.create_bucket(Bucket="results")
    return S3Store("s3://results/runs", lambda: made)


@pytest.fixture
def depot(store):
    return Depot(store, lambda campaign_id: f"{campaign_id}/bundles")


@pytest.fixture
def bundle(tmp_path):
    folder = tmp_path / "jdk"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\necho started\n")
    (folder / "bin" / "java").chmod(0o755)
    (folder / "big.jar").write_bytes(os.urandom(3 * MIB))
    return folder


@pytest.fixture
def sent(monkeypatch):
    """Paths that went over SSH, the program's own aside."""
    paths = []
    send = bundles._send

    def noting(connection, bundle, missing, place, where):
        paths.extend(path for path in missing if bundle.name != "onhost")
        send(connection, bundle, missing, place, where)

    monkeypatch.setattr(bundles, "_send", noting)
    return paths


@pytest.fixture
def hosts(sshd, user_key, tmp_path, depot):
    """Hosts with a folder of their own behind one sshd; each remembers nothing of what others did."""
    pools = []

    def host(name, campaign="campaign-1"):
        pools.append(Connections(OneKey(user_key.private)))
        root, connection = PurePosixPath(tmp_path / name), pools[-1].to(sshd.target())
        return SshHost(INFO, root, connection, staged=depot.of_campaign(campaign))

    yield host
    for pool in pools:
        pool.close()


def test_a_bundle_is_staged_once_and_fetched_by_every_host(hosts, bundle, service, sent):
    places = [hosts(name).install(bundle) for name in ("a", "b")]
    assert sent == []
    assert service.called("PUT", "/bundles/") == 1
    assert service.called("GET", "/bundles/") == 2
    for place in places:
        assert (Path(place) / "big.jar").read_bytes() == (bundle / "big.jar").read_bytes()
        assert os.access(place / "bin" / "java", os.X_OK)


def test_a_host_that_has_it_fetches_nothing(hosts, bundle, service):
    assert hosts("a").install(bundle) == hosts("a").install(bundle)
    assert service.called("GET", "/bundles/") == 1


def test_it_is_staged_under_the_name_of_its_content(hosts, bundle, store):
    hosts("a").install(bundle)
    [key] = store.keys("campaign-1/bundles")
    assert key == f"campaign-1/bundles/jdk-{bundles.bundle_of(bundle).digest}.tar"
    (bundle / "big.jar").write_bytes(b"changed")
    hosts("a").install(bundle)
    hosts("b", "campaign-2").install(bundle)
    assert len(list(store.keys("campaign-1/bundles"))) == 2
    assert len(list(store.keys("campaign-2/bundles"))) == 1


def test_of_many_who_stage_at_once_the_store_takes_one(bundle, store):
    made = bundles.bundle_of(bundle)
    depots = [Depot(store, lambda _: "x") for _ in range(4)]
    threads = [threading.Thread(target=lambda one=one: one.of_campaign("x")(made)) for one in depots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(store.keys(""))) == 1


@pytest.mark.parametrize("fault", ["half", "503", "lost"])
def test_an_interrupted_transfer_is_begun_again(hosts, bundle, service, sent, fault):
    service.faults = [fault]
    place = Path(hosts("a").install(bundle))
    assert sent == []
    assert (place / "big.jar").read_bytes() == (bundle / "big.jar").read_bytes()
    assert service.called("GET", "/bundles/") == 2


def test_an_archive_with_another_content_is_noticed(hosts, bundle, store, sent):
    """What the store holds is not believed: every file is verified, and what differs is sent."""
    hosts("a").install(bundle)
    [key] = store.keys("campaign-1/bundles")
    store.write(key, store.read(key).replace((bundle / "big.jar").read_bytes()[:4096], bytes(4096)))
    place = Path(hosts("b").install(bundle))
    assert sent == ["big.jar"]
    assert (place / "big.jar").read_bytes() == (bundle / "big.jar").read_bytes()


def test_a_host_that_is_refused_is_sent_it_and_no_secret_is_told(hosts, bundle, service, sent, caplog):
    service.faults = ["403"]
    with caplog.at_level(logging.DEBUG, logger="plimsoll"):
        hosts("a").install(bundle)
    assert sorted(sent) == ["big.jar", "bin/java"]
    said = "\n".join(record.getMessage() for record in caplog.records)
    assert "the store answers 403 (Told)" in said
    assert "Amz" not in said


def test_a_host_without_a_way_to_the_store_asks_once(hosts, bundle, service, sent, monkeypatch):
    host = hosts("a")
    monkeypatch.setattr(S3Store, "download_url", lambda *_: "http://127.0.0.1:1/nothing")
    monkeypatch.setattr("plimsoll.adapters.ssh.host.FETCH", timedelta(0))
    host.install(bundle)
    (bundle / "big.jar").write_bytes(b"changed")
    asked = service.called("HEAD", "/bundles/")
    host.install(bundle)
    assert service.called("HEAD", "/bundles/") == asked
    assert sent.count("big.jar") == 2


def test_the_url_is_on_no_command_line(hosts, bundle, service, monkeypatch):
    lines = []
    execute = Connections.to

    def noting(pool, target):
        connection = execute(pool, target)
        run = connection.execute

        def noted(command, **rest):
            lines.append(command)
            return run(command, **rest)

        monkeypatch.setattr(connection, "execute", noted)
        return connection

    monkeypatch.setattr(Connections, "to", noting)
    hosts("a").install(bundle)
    assert any("fetch" in line for line in lines)
    assert not any("Amz" in line or service.endpoint in line for line in lines)
