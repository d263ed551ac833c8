"""The real things from the shared cache: a Java runtime, Cassandra's jars, the load generator."""

import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.integration.artefacts.given_jdk import given

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.artefacts.java_programs import load_generator
from plimsoll.adapters.artefacts.web import ask_java
from plimsoll.cli.prepare import prepare
from plimsoll.domain.text.errors import ArtefactError


def test_the_published_jdk_is_the_very_version(artefacts: Artefacts) -> None:
    jdk = artefacts.jdk("openjdk-11.0.13")
    assert jdk.version == "11.0.13+8"
    assert jdk.java.is_relative_to(jdk.home)
    modules = {line.partition("@")[0] for line in ask_java(jdk.java, "--list-modules").splitlines()}
    assert {"java.base", "java.management", "jdk.attach"} <= modules
    assert "jdk.compiler" not in modules


def test_the_jvm_says_which_collectors_it_has(artefacts: Artefacts) -> None:
    assert artefacts.collectors("openjdk-11.0.13") == {"G1", "CMS", "Shenandoah", "ZGC", "Parallel", "Serial"}


def test_a_jvm_that_dropped_a_collector_does_not_have_it(artefacts: Artefacts) -> None:
    assert artefacts.jdk("openjdk-17.0.9").version.startswith("17.0.9")
    assert artefacts.collectors("openjdk-17.0.9") == {"G1", "Shenandoah", "ZGC", "Parallel", "Serial"}


def test_cassandras_jars_lie_in_one_folder(artefacts: Artefacts) -> None:
    jars = {path.name for path in artefacts.database("cassandra", "4.0.1").glob("*.jar")}
    assert len(jars) == 62
    assert "cassandra-all-4.0.1.jar" in jars


def test_the_load_generator_runs(artefacts: Artefacts) -> None:
    folder = artefacts.program("load-generator")
    argv = [str(artefacts.jdk("openjdk-11.0.13").java), "-cp", f"{folder}/*", "plimsoll.stress.Main", "--help"]
    helped = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert "run" in helped.stdout + helped.stderr
    manifest = zipfile.ZipFile(folder / "plimsoll-stress.jar").read("META-INF/MANIFEST.MF")
    assert b"Main-Class: plimsoll.stress.Main" in manifest


def test_sources_that_do_not_compile_are_said_and_leave_nothing(shared_cache: Any, tmp_path: Path) -> None:
    entry = tmp_path / "plimsoll" / "stress" / "Main.java"
    entry.parent.mkdir(parents=True)
    entry.write_text("package plimsoll.stress; class Main { int x = nonesuch; }")
    artefacts = Artefacts(shared_cache, print, sources=tmp_path)
    with pytest.raises(ArtefactError, match=r"does not compile(.|\n)*nonesuch"):
        artefacts.program("load-generator")
    assert not (shared_cache / load_generator(tmp_path).entry()).exists()


def test_everything_that_local_definitions_need_is_prepared_once_and_then_needs_no_network(
    shared_cache: Any,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLIMSOLL_CACHE", str(shared_cache))
    prepare()
    request.getfixturevalue("no_network")
    capsys.readouterr()
    prepare()
    assert capsys.readouterr().out == f"all artefacts are ready in {shared_cache}\n"


def test_a_jdk_that_a_person_put_there_is_used(tmp_path: Path) -> None:
    given(tmp_path, "prime-11.0.13", version="11.0.13.0.101", name="Zing 64-Bit Tiered VM")
    artefacts = Artefacts(tmp_path, print)
    assert artefacts.jdk("prime-11.0.13").version == "11.0.13.0.101"
    assert artefacts.collectors("prime-11.0.13") == {"C4"}


def test_a_jdk_for_another_processor_is_said(tmp_path: Path) -> None:
    given(tmp_path, "prime-11.0.13", version="11", name="")
    (tmp_path / "given" / "prime-11.0.13" / "bin" / "java").write_bytes(b"\x7fELF")
    with pytest.raises(ArtefactError, match=r"can't be run(.|\n)*this machine's processor"):
        Artefacts(tmp_path, print).jdk("prime-11.0.13")
