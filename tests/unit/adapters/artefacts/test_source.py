from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.artefacts.java_programs import load_generator, load_generator_for_hbase
from plimsoll.adapters.artefacts.maven import locked_set
from plimsoll.adapters.generators.cassandra_stress.checks import PROGRAM
from plimsoll.domain.campaign.resolve import product_spec, resolve
from plimsoll.domain.campaign.specs import VariantSpec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.variant import Archive
from plimsoll.domain.text.errors import ArtefactError
from plimsoll.ports.artefacts import Program


@pytest.fixture
def artefacts(tmp_path: Path) -> Any:
    return Artefacts(tmp_path / "cache", lambda _: None)


def definition(*, jdk: str = "openjdk-11.0.13", version: str = "4.0.1", archive: Any = None) -> Any:
    return Definition.model_validate(
        {
            "name": "d",
            "title": "D",
            "system": {"version": version},
            "variants": [{"id": "a", "jvm": {"jdk": jdk, "collector": "G1", "heap": "512M", "archive": archive}}],
            "loads": ["10/s"],
            "timing": {"duration": "20s", "warmup": "10s"},
        }
    )


def specs(given: Definition) -> Sequence[VariantSpec]:
    return product_spec(resolve(given), "cassandra").variants


def test_an_empty_cache_misses_everything_and_fetches_nothing(artefacts: Artefacts, tmp_path: Path) -> None:
    problems = artefacts.missing_of_variants(specs(definition()), "d")
    assert [problem.where for problem in problems] == ["variants.a.jvm.jdk", "system.version"]
    assert all("`plimsoll prepare d`" in problem.mend for problem in problems)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("load-generator", "Plimsoll's own load generator is not built"),
        ("node-tool", "Plimsoll's own node tool is not built"),
        (PROGRAM, "cassandra-stress is not in the cache"),
    ],
)
def test_a_missing_program_is_told_at_the_key_that_it_is_needed_for(
    artefacts: Artefacts, tmp_path: Path, program: Program, what: str
) -> None:
    [problem] = artefacts.missing_of_program(program, "system.database", definition().name)
    assert (problem.where, problem.what) == ("system.database", what)
    assert "`plimsoll prepare d`" in problem.mend
    assert not (tmp_path / "cache").exists()


def test_what_can_not_be_fetched_is_said_with_what_can(artefacts: Artefacts) -> None:
    jdk, database = artefacts.missing_of_variants(specs(definition(jdk="prime-11.0.13", version="4.0.99")), "d")
    assert jdk.what == "JDK prime-11.0.13 of variant a can't be fetched"
    assert "archive" in jdk.mend
    assert "given/prime-11.0.13/bin/java" in jdk.mend
    assert "cassandra 4.0.99 can't be fetched" in database.what
    assert "4.0.1" in database.mend


def test_a_missing_release_is_told_at_the_key_that_names_it(artefacts: Artefacts) -> None:
    one = definition()
    variants = [
        one.variants[0].model_copy(update={"id": variant_id, "version": version})
        for variant_id, version in [("a", None), ("b", "4.0.99"), ("c", "3.11.19"), ("d", "4.0.99")]
    ]
    found = artefacts.missing_of_variants(specs(one.model_copy(update={"variants": tuple(variants)})), "d")
    assert [(problem.where, problem.what) for problem in found if problem.where.endswith("version")] == [
        ("variants.c.version", "cassandra 3.11.19 is not in the cache"),
        ("system.version", "cassandra 4.0.1 is not in the cache"),
        ("variants.b.version", "cassandra 4.0.99 can't be fetched"),
    ]


def test_a_variant_with_an_archive_of_its_product_needs_no_release(artefacts: Artefacts) -> None:
    one = definition(version="4.0.99")
    own = one.variants[0].model_copy(update={"archive": Archive(url="s3://mine/build.tar.gz", sha256="ab" * 32)})
    variants = specs(one.model_copy(update={"variants": (own,)}))
    assert [problem.where for problem in artefacts.missing_of_variants(variants, "d")] == ["variants.a.jvm.jdk"]
    assert [str(download) for download in artefacts.downloads_of_variants(variants)] == ["JDK openjdk-11.0.13 (37 MB)"]


def test_an_archive_that_was_named_is_still_to_be_fetched(artefacts: Artefacts) -> None:
    archive = {"url": "s3://mine/prime.tar.gz", "sha256": "ab" * 32}
    jdk = artefacts.missing_of_variants(specs(definition(jdk="prime-11.0.13", archive=archive)), "d")[0]
    assert (jdk.where, jdk.what) == ("variants.a.jvm.archive", "JDK prime-11.0.13 of variant a is not in the cache")
    assert "`plimsoll prepare d`" in jdk.mend


@pytest.mark.parametrize("url", ["https://me:secret@x/a", "https://x/a?X-Amz-Signature=1", "ftp://x/a", "s3://bucket"])
def test_what_would_put_a_secret_into_the_definition_is_refused(url: Any) -> None:
    with pytest.raises(ValueError, match="archive"):
        definition(jdk="prime-11.0.13", archive={"url": url, "sha256": "ab" * 32})


def test_a_licensed_jdk_is_refused_with_what_to_give(artefacts: Artefacts) -> None:
    with pytest.raises(ArtefactError, match=r"prime-11\.0\.13 can't be fetched(.|\n)*from Azul(.|\n)*bin/java"):
        artefacts.jdk("prime-11.0.13")


def test_an_unknown_database_is_refused(artefacts: Artefacts) -> None:
    with pytest.raises(ArtefactError, match=r"cassandra 4\.0\.99(.|\n)*artefacts\.lock cassandra-4\.0\.99"):
        artefacts.database("cassandra", "4.0.99")
    with pytest.raises(ArtefactError, match="adapter"):
        artefacts.database("hbase", "2")


def test_the_generators_place_follows_its_sources(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "A.java").write_text("class A {}")
    first = load_generator(tmp_path).entry()
    assert load_generator(tmp_path).entry() == first
    (tmp_path / "p" / "A.java").write_text("class A { }")
    assert load_generator(tmp_path).entry() != first


def test_each_protocol_has_a_class_path_of_its_own() -> None:
    cql, hbase = load_generator(), load_generator_for_hbase()
    assert cql.sources == hbase.sources
    assert cql.entry() != hbase.entry()
    names = {program.name: {*locked_set(program.libraries).checksums} for program in (cql, hbase)}
    assert any(name.startswith("java-driver-core") for name in names[cql.name] - names[hbase.name])
    assert any(name.startswith("hbase-shaded-client") for name in names[hbase.name] - names[cql.name])


def test_missing_sources_are_said(artefacts: Artefacts, tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="Java sources are not there"):
        load_generator(tmp_path / "none").entry()


def test_what_is_downloaded_is_named_with_its_size_by_the_lock_file(artefacts: Artefacts, tmp_path: Path) -> None:
    jdk, database = artefacts.downloads_of_variants(specs(definition()))
    assert (str(jdk), str(database)) == ("JDK openjdk-11.0.13 (37 MB)", "cassandra 4.0.1 (46 MB)")
    assert not any(one.is_there for one in (jdk, database))
    assert not (tmp_path / "cache").exists()


def test_a_program_is_downloaded_as_what_it_is_made_from(artefacts: Artefacts) -> None:
    assert [str(one) for one in artefacts.downloads_of_program(PROGRAM)] == [
        "JDK openjdk-11.0.13 (37 MB)",
        "cassandra-stress, in the release of Cassandra 4.0-alpha2 (53 MB)",
    ]
    generator, compiler, *libraries = artefacts.downloads_of_program("load-generator")
    assert (str(generator), str(compiler)) == ("JDK openjdk-21.0.8 (34 MB)", "JDK openjdk-11.0.13 (37 MB)")
    assert [compiler, *libraries] == artefacts.downloads_of_program("node-tool")
    assert [str(one) for one in libraries] == [
        "libraries of Plimsoll's own Java programs (16 MB)",
        "Eclipse's Java compiler (3 MB)",
    ]


def test_an_archives_size_is_not_known_and_what_nobody_has_is_no_download(artefacts: Artefacts) -> None:
    archive = {"url": "https://example.org/prime.tar.gz", "sha256": "0" * 64}
    [given, _] = artefacts.downloads_of_variants(specs(definition(jdk="prime-11.0.13", archive=archive)))
    assert str(given) == "JDK prime-11.0.13 from the archive that the variant names (size not known before)"
    assert artefacts.downloads_of_variants(specs(definition(jdk="prime-11.0.13", version="4.0.99"))) == []


def test_a_jdk_that_somebody_gave_is_there(artefacts: Artefacts, tmp_path: Path) -> None:
    java = tmp_path / "cache" / "given" / "prime-11.0.13" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.touch()
    [given, _] = artefacts.downloads_of_variants(specs(definition(jdk="prime-11.0.13")))
    assert (given.name, given.size_bytes, given.is_there) == ("JDK prime-11.0.13", None, True)
