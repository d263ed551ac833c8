from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.clock import SteppingClock

from plimsoll.adapters.products.scylladb import ScyllaDb
from plimsoll.domain.campaign.resolve import product_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import Problem

HERE, MISSING = "ab" * 32, "00" * 32


def define(**variant: object) -> Definition:
    archive = {"url": "https://example.org/scylla-unified.tar.gz", "sha256": HERE}
    scylla = {"id": "s", "product": "scylladb", "version": "4.4.3", "archive": archive, **variant}
    cassandra = {"id": "c", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "1G"}}
    return Definition.model_validate(
        {
            "name": "mixed",
            "title": "Cassandra and ScyllaDB",
            "system": {"version": "4.0.1"},
            "variants": [cassandra, {key: value for key, value in scylla.items() if value is not None}],
            "loads": ["1000/s"],
            "timing": {"duration": "20m", "warmup": "5m"},
        }
    )


@pytest.fixture
def product(tmp_path: Path) -> ScyllaDb:
    return ScyllaDb(EmptyArtefacts(tmp_path), SteppingClock())


def found(product: ScyllaDb, **variant: object) -> Sequence[Problem]:
    return product.check(product_spec(resolve(define(**variant)), "scylladb"))


def test_a_variant_with_an_archive_has_no_problems_and_says_what_is_unknown(product: ScyllaDb) -> None:
    assert found(product, settings={"smp": 8, "memory": "16G", "compaction_static_shares": 100}) == []
    [sentence] = product.unchecked(product_spec(resolve(define()), "scylladb"))
    assert sentence.startswith("Plimsoll has never run a real ScyllaDB: whether variant s starts")


def test_its_archive_is_among_the_downloads(product: ScyllaDb) -> None:
    archive, tool = product.downloads(product_spec(resolve(define()), "scylladb"))
    assert (archive.name, archive.size_bytes, archive.is_there) == ("ScyllaDB of variant s", None, True)
    assert tool.name == "node-tool"


@pytest.mark.parametrize(
    ("variant", "where", "what"),
    [
        ({"archive": None}, "archive", "no registry has ScyllaDB"),
        ({"archive": {"url": "https://example.org/a.tar.gz", "sha256": MISSING}}, "archive", "not in the cache"),
        ({"jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "1G"}}, "jvm", "no JVM"),
        ({"settings": {"listen_address": "0.0.0.0"}}, "settings.listen_address", "Plimsoll writes it"),
        ({"settings": {"commitlog_directory": "/etc"}}, "settings.commitlog_directory", "outside of its folder"),
        ({"settings": {"alternator_port": 8000}}, "settings.alternator_port", "where the node listens"),
        ({"settings": {"smp": 0}}, "settings.smp", "greater than or equal to 1"),
        ({"settings": {"smp": "8"}}, "settings.smp", 'found "8"'),
        ({"settings": {"memory": "512M"}}, "settings.memory", "greater than"),
        ({"settings": {"memory": 8}}, "settings.memory", "found 8"),
        ({"settings": {"overprovisioned": "yes"}}, "settings.overprovisioned", 'found "yes"'),
    ],
)
def test_what_keeps_a_variant_from_running_is_told_with_its_place(
    product: ScyllaDb, variant: Any, where: str, what: str
) -> None:
    [problem] = found(product, **variant)
    assert problem.where == f"variants[1] (s).{where}"
    assert what in problem.what
    assert problem.mend
