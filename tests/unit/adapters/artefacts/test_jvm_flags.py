"""What a JVM says against flags; a program that answers like `java` stands for it, the real one is asked elsewhere."""

from pathlib import Path

import pytest

from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.jdks import Jdk
from plimsoll.adapters.artefacts.jvm_flags import is_unasked, refusal


@pytest.fixture
def jdk(tmp_path: Path) -> Jdk:
    java = tmp_path / "java"
    java.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {tmp_path}/asked\n'
        'case "$*" in\n'
        "*NoSuchFlag*) echo \"Unrecognized VM option 'NoSuchFlag'\"; echo 'Error: Could not create the Java Virtual "
        "Machine.'; exit 1;;\n"
        "*Huge*) echo 'Error occurred during initialization of VM'; "
        "echo 'Could not reserve enough space for 99G object heap'; exit 1;;\n"
        "*UseNUMAA*) echo \"Unrecognized VM option 'UseNUMAA'\"; "
        "echo \"Did you mean '(+/-)UseNUMA'? Error: Could not create the Java Virtual Machine.\"; exit 1;;\n"
        "esac\n"
    )
    java.chmod(0o755)
    return Jdk("openjdk-11.0.13", tmp_path, java, "11.0.13", frozenset())


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("-XX:NoSuchFlag", "Unrecognized VM option 'NoSuchFlag'"),
        ("-XX:+UseNUMAA", "Unrecognized VM option 'UseNUMAA' Did you mean '(+/-)UseNUMA'?"),
        ("-XX:+Huge", ""),  # holds for this machine's memory, not for a host's
        ("-Dfine=1", ""),
    ],
)
def test_the_jvm_is_asked_once_and_its_own_words_are_the_answer(tmp_path: Path, jdk: Jdk, flag: str, said: str) -> None:
    cache = Cache(tmp_path / "cache", print)
    assert refusal(cache, jdk, ["-XX:+UseG1GC", flag]) == said
    assert refusal(cache, jdk, ["-XX:+UseG1GC", flag]) == said
    assert len(Path(tmp_path, "asked").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "flag",
    [
        "-javaagent:agent.jar",
        "-agentpath:x",
        "-XX:OnOutOfMemoryError=reboot",
        "-XX:Flags=x",
        "-Xlog:gc:file=gc.log",
        "-Xloggc:gc.log",
        "-XX:HeapDumpPath=x",
        "@arguments",
        "-Dfile=/etc/x",
    ],
)
def test_flags_that_name_files_of_a_host_or_run_something_are_not_asked_here(
    tmp_path: Path, jdk: Jdk, flag: str
) -> None:
    assert is_unasked(flag)
    assert refusal(Cache(tmp_path / "cache", print), jdk, [flag]) == ""
    assert flag not in Path(tmp_path, "asked").read_text()


def test_a_young_generation_is_made_as_small_as_the_heap_that_is_had_here(tmp_path: Path, jdk: Jdk) -> None:
    refusal(Cache(tmp_path / "cache", print), jdk, ["-XX:+UseConcMarkSweepGC", "-Xmx16G", "-Xmn8G"])
    asked = Path(tmp_path, "asked").read_text().split()
    assert asked.index("-Xmn64m") > asked.index("-Xmn8G")
    assert asked.index("-Xmx512m") > asked.index("-Xmx16G")
