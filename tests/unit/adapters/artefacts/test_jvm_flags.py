"""What a JVM says against flags; a program that answers like `java` stands for it, the real one is asked elsewhere."""

from pathlib import Path

import pytest

from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.jdks import Jdk
from plimsoll.adapters.artefacts.jvm_traits import is_harmless, refusal, unasked


@pytest.fixture
def jdk(tmp_path: Path) -> Jdk:
    java = tmp_path / "java"
    java.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {tmp_path}/asked\n'
        'case "$*" in\n'
        "*PrintFlagsFinal*) echo '   bool UseG1GC   = false {product}'; echo '   bool UseNUMA  := false {product}'; "
        "echo '  ccstr HeapDumpPath  =  {manageable}';;\n"
        "*NoSuchFlag*) echo \"Unrecognized VM option 'NoSuchFlag'\"; echo 'Error: Could not create the Java Virtual "
        "Machine.'; exit 1;;\n"
        "*Huge*) echo 'Error occurred during initialization of VM'; "
        "echo 'Could not reserve enough space for 99G object heap'; exit 1;;\n"
        "*UseNUMAA*) echo \"Unrecognized VM option 'UseNUMAA'\"; "
        "echo \"Did you mean '(+/-)UseNUMA'? Error: Could not create the Java Virtual Machine.\"; exit 1;;\n"
        "esac\n"
    )
    java.chmod(0o755)
    return Jdk("openjdk-11.0.13", tmp_path, java, "11.0.13")


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("-XX:NoSuchFlag", "Unrecognized VM option 'NoSuchFlag'"),
        ("-XX:+UseNUMAA", "Unrecognized VM option 'UseNUMAA' Did you mean '(+/-)UseNUMA'?"),
        ("-XX:+Huge", ""),  # holds for this machine's memory, not for a host's
        ("-Dfine=1", ""),
    ],
)
def test_the_jvm_is_asked_once_and_its_own_words_are_the_answer(
    tmp_path: Path, jdk: Jdk, flag: str, message: str
) -> None:
    cache = Cache(tmp_path / "cache", print)
    assert refusal(cache, jdk, ["-XX:+UseG1GC", flag]) == message
    assert refusal(cache, jdk, ["-XX:+UseG1GC", flag]) == message
    lines = [line for line in Path(tmp_path, "asked").read_text().splitlines() if "PrintFlagsFinal" not in line]
    assert len(lines) == 1


TYPES = {
    "UseG1GC": "bool",
    "LogVMOutput": "bool",
    "ManagementServer": "bool",
    "StartAttachListener": "bool",
    "ConcGCThreads": "uintx",
    "HeapDumpPath": "ccstr",
    "ShenandoahGCHeuristics": "ccstr",
    "Flags": "ccstr",
}


@pytest.mark.parametrize(
    "flag",
    [
        "-javaagent:agent.jar",
        "-agentpath:x",
        "-agentlib:jdwp=transport=dt_socket,server=y,address=5005",
        "-Xrunhprof",
        "-Xbootclasspath/a:x",
        "-Xlog:gc:gc.log",
        "-Xlog:all=info:x",
        "-Xlog:gc:file=gc.log",
        "-Xloggc:gc.log",
        "-Xshare:dump",
        "-XX:HeapDumpPath=1",
        "-XX:Flags=x",
        "-XX:+LogVMOutput",
        "-XX:+ManagementServer",
        "-XX:+StartAttachListener",
        "-XX:ShenandoahGCHeuristics=../x",
        "--patch-module=java.base=x",
        "@arguments",
        "-XX:+UseG1GC\n",
    ],
)
def test_flags_that_might_change_something_here_are_left_to_the_hosts(flag: str) -> None:
    assert not is_harmless(flag, TYPES)


@pytest.mark.parametrize(
    "flag",
    [
        *("-XX:+UseG1GC", "-XX:-UseG1GC", "-XX:ConcGCThreads=2", "-XX:ConcGCThreads=two", "-XX:+NoSuchFlag"),
        *("-XX:NoSuchFlag=x", "-XX:ShenandoahGCHeuristics=compact", "-Xmx2G", "-Xss256k", "-ea", "-Xlog:gc*=debug"),
    ],
)
def test_flags_without_effect_on_this_machine_are_asked_here(flag: str) -> None:
    assert is_harmless(flag, TYPES)


def test_where_a_jvm_does_not_say_which_flags_it_has_no_option_is_asked() -> None:
    assert not is_harmless("-XX:+UseG1GC", {})


def test_a_property_is_neither_asked_nor_reported(tmp_path: Path, jdk: Jdk) -> None:
    cache, flags = Cache(tmp_path / "cache", print), ["-Dcom.sun.management.jmxremote.port=7199", "-XX:HeapDumpPath=x"]
    assert refusal(cache, jdk, flags) == ""
    assert unasked(cache, jdk, flags) == ["-XX:HeapDumpPath=x"]
    assert not [flag for flag in flags if flag in Path(tmp_path, "asked").read_text()]


def test_a_jvm_runs_in_an_empty_folder_without_secrets(
    tmp_path: Path, jdk: Jdk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__CORE__FERNET_KEY", "secret")
    jdk.java.write_text(f"#!/bin/sh\npwd > {tmp_path}/cwd\nls -A >> {tmp_path}/cwd\nenv > {tmp_path}/env\n")
    refusal(Cache(tmp_path / "cache", print), jdk, [])
    (folder,) = Path(tmp_path, "cwd").read_text().split()
    assert not Path(folder).exists()
    names = {line.partition("=")[0] for line in Path(tmp_path, "env").read_text().splitlines()}
    assert names <= {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "PWD", "OLDPWD", "SHLVL", "_"}


def test_a_young_generation_is_made_as_small_as_the_heap_that_is_had_here(tmp_path: Path, jdk: Jdk) -> None:
    refusal(Cache(tmp_path / "cache", print), jdk, ["-XX:+UseConcMarkSweepGC", "-Xmx16G", "-Xmn8G"])
    arguments = Path(tmp_path, "asked").read_text().split()
    assert arguments.index("-Xmn64m") > arguments.index("-Xmn8G")
    assert arguments.index("-Xmx512m") > arguments.index("-Xmx16G")
