from pathlib import Path

import pytest
from tests.fakes.artefacts import EmptyArtefacts

from plimsoll.adapters.products.cassandra.class_data import class_data, class_list
from plimsoll.domain.errors import ArtefactError
from plimsoll.domain.variant import JvmConfiguration


def jvm(collector: str = "G1", heap: str = "512M") -> JvmConfiguration:
    return JvmConfiguration.model_validate({"jdk": "openjdk-11.0.13", "collector": collector, "heap": heap})


def test_the_recorded_classes_are_cassandra_s_and_what_it_needs() -> None:
    names = class_list("4.0.1").decode().splitlines()
    assert len(names) > 7000
    assert {"org/apache/cassandra/service/CassandraDaemon", "java/lang/Object"} < set(names)
    assert names == sorted(set(names))


def test_a_version_without_a_record_starts_without(artefacts: EmptyArtefacts) -> None:
    assert class_list("4.0.99") is None
    assert class_data(artefacts, jvm(), "4.0.99") is None


@pytest.mark.parametrize("collector", ["G1", "CMS", "Shenandoah", "Parallel", "Serial"])
def test_collectors_with_compressed_references_share_one_archive(artefacts: EmptyArtefacts, collector: str) -> None:
    assert class_data(artefacts, jvm(collector), "4.0.1") == class_data(artefacts, jvm("G1", "31G"), "4.0.1")


@pytest.mark.parametrize(("collector", "heap"), [("ZGC", "512M"), ("C4", "40G"), ("G1", "32G"), ("CMS", "40G")])
def test_jvms_that_can_t_use_an_archive_get_none(artefacts: EmptyArtefacts, collector: str, heap: str) -> None:
    assert class_data(artefacts, jvm(collector, heap), "4.0.1") is None


def test_other_jars_are_another_archive(artefacts: EmptyArtefacts) -> None:
    before = class_data(artefacts, jvm(), "4.0.1")
    (artefacts.database("cassandra", "4.0.1") / "guava-27.0-jre.jar").write_text("another")
    assert class_data(artefacts, jvm(), "4.0.1") != before


def test_a_jvm_that_makes_no_archive_is_an_error_with_its_words(
    artefacts: EmptyArtefacts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    java = artefacts.jdk("openjdk-11.0.13").java
    java.write_text("#!/bin/sh\necho no such option\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setattr(artefacts, "derived", lambda _, build: build(tmp_path))
    with pytest.raises(ArtefactError, match="no such option"):
        class_data(artefacts, jvm(), "4.0.1")
