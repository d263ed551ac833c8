import re
from typing import Any

import pytest
from tests.support.campaigns.shipped import shipped_for_this_machine

from plimsoll.adapters.artefacts.jdks import DEBIAN_PACKAGES, JDKS, locked_jdks
from plimsoll.adapters.artefacts.lock import roots_of
from plimsoll.adapters.artefacts.maven import FOLDER, LockedJar, database_versions, locked_set
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import ArtefactError
from plimsoll.ports.artefacts import LOAD_JDK

SETS = sorted(path.stem for path in FOLDER.glob("*.json") if path != JDKS)


def test_there_are_locks_for_what_the_publications_ran() -> None:
    assert {"ecj", "load-generator"} <= set(SETS)
    assert {"3.11.19", "4.0.1", "4.1.10", "5.0.9"} <= set(database_versions("cassandra"))
    assert {"openjdk-11.0.13", "openjdk-17.0.9", LOAD_JDK} <= set(locked_jdks())


@pytest.mark.parametrize("name", SETS)
def test_every_lock_is_of_what_its_name_says_and_no_two_files_share_a_name(name: str) -> None:
    locked = locked_set(name)
    assert locked.name == name
    assert locked.roots == roots_of(name)
    assert len(locked.checksums) == len(locked.jars)
    assert set(locked.roots) <= {jar.coordinates for jar in locked.jars}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_no_lock_names_a_host(path: Any) -> None:
    assert re.search(r"//|\.(com|org|net)/", path.read_text()) is None


def test_every_shipped_local_definition_can_be_prepared() -> None:
    definitions = shipped_for_this_machine()
    assert definitions
    for definition in definitions:
        assert {variant.jvm.jdk for variant in definition.variants} <= {*locked_jdks(), *DEBIAN_PACKAGES}
        for variant in definition.variants:
            assert resolve(definition).version_of(variant) in database_versions(resolve(definition).product_of(variant))


@pytest.mark.parametrize(
    ("coordinates", "name"),
    [("com.google.guava:guava:27.0-jre", "guava-27.0-jre.jar"), ("a:jffi:1.3.9:native", "jffi-1.3.9-native.jar")],
)
def test_a_jar_is_named_as_in_its_repository(coordinates: Any, name: str) -> None:
    assert LockedJar(coordinates=coordinates, sha256="0" * 64, size_bytes=1).name == name


def test_any_release_of_cassandra_has_coordinates() -> None:
    assert roots_of("cassandra-4.0.7") == ("org.apache.cassandra:cassandra-all:4.0.7",)
    assert roots_of("cassandra-3.11.6")[1] == "org.apache.cassandra:cassandra-thrift:3.11.6"


@pytest.mark.parametrize("name", ["scylladb-2", "cassandra", "cassandra-"])
def test_a_name_that_is_no_set_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(ArtefactError, match="ecj"):
        roots_of(name)
