"""A node runs from the archive of a build of one's own, which came from a web server, and says which build it is."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.support.nodes.cassandra_build import VERSION, pack
from tests.support.nodes.small import define, provided

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.domain.campaign.resolve import product_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.settings import Settings


@pytest.fixture
def own_cache(artefacts: Artefacts, tmp_path: Path) -> Path:
    """A cache with all that the machine's has, in which archives do not outlive the test."""
    artefacts.database("cassandra", "4.0.1")
    for kind in ("jars", "jdks", "derived"):
        (tmp_path / "cache" / kind).mkdir(parents=True)
        for entry in (Settings().cache / kind).iterdir():
            (tmp_path / "cache" / kind / entry.name).symlink_to(entry)
    return tmp_path / "cache"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def named(archive: dict[str, str], version: str) -> Definition:
    content = define(nodes=1, version=version).model_dump(mode="json")
    content["variants"][0]["archive"] = archive
    return Definition.model_validate(content)


def test_a_build_is_fetched_checked_and_run(artefacts: Artefacts, own_cache: Path, tmp_path: Path) -> None:
    packed = pack(artefacts.database("cassandra", "4.0.1"), tmp_path)
    sha256 = hashlib.sha256(packed.read_bytes()).hexdigest()
    with served(tmp_path) as url:
        archive = {"url": f"{url}/{packed.name}", "sha256": sha256}
        definition = named(archive, VERSION)
        spec = product_spec(resolve(definition), "cassandra")
        with provided(Artefacts(own_cache, print), tmp_path / "clusters", definition) as deployment:
            [missing] = deployment.product.check(spec)
            assert (missing.where, missing.what) == (
                "variants[0] (v).archive",
                "Cassandra of variant v is not in the cache",
            )
            deployment.product.prepare(spec)
            assert list(deployment.product.check(spec)) == []
            other = product_spec(resolve(named(archive, "4.0.1")), "cassandra")
            [wrong] = deployment.product.check(other)
            assert wrong.what == f"it holds Cassandra {VERSION}, and the definition says 4.0.1"
            packed.unlink()
            deployment.deploy()
            [node] = deployment.fingerprint()
    assert (node.database, node.database_version) == ("cassandra", VERSION)
    assert node.archive == f"{packed.name}, sha256 {sha256}"
