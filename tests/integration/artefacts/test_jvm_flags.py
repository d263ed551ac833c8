"""A definition's flags on this machine: real JVMs refuse what is wrong, and leave no file and open no port."""

import re
from pathlib import Path

import pytest

from plimsoll.adapters.artefacts import Artefacts, web
from plimsoll.ports.artefacts import OWN_JDK

HARMFUL = (
    "-Xlog:all=info:x",
    "-Xlog:gc:file=x",
    "-Xloggc:x",
    "-Xshare:dump",
    "-XX:ArchiveClassesAtExit=x",
    "-XX:SharedArchiveFile=x",
    "-XX:DumpLoadedClassList=x",
    "-XX:StartFlightRecording=filename=x.jfr,dumponexit=true",
    "-XX:FlightRecorderOptions=repository=x",
    "-XX:+LogVMOutput",
    "-XX:LogFile=x",
    "-XX:+LogCompilation",
    "-XX:+PauseAtStartup",
    "-XX:+PerfDataSaveToFile",
    "-XX:PerfDataSaveFile=x",
    "-XX:+ManagementServer",
    "-XX:+StartAttachListener",
    "-XX:OnOutOfMemoryError=touch x",
    "-XX:OnError=touch x",
    "-XX:HeapDumpPath=x",
    "-XX:ErrorFile=x",
    "-XX:Flags=x",
    "-XX:VMOptionsFile=x",
    "-XX:CompileCommandFile=x",
    "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0",
    "-javaagent:x.jar",
    "@x",
)


@pytest.fixture
def artefacts(shared_cache: Path, tmp_path: Path) -> Artefacts:
    """Provide the JDKs of the shared cache without the answers that it has."""
    for name in ("jdks", "jars"):
        (tmp_path / "cache").mkdir(exist_ok=True)
        (tmp_path / "cache" / name).symlink_to(shared_cache / name)
    return Artefacts(tmp_path / "cache", print)


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what JVMs leave in the folders that they run in."""
    seen: list[str] = []
    run = web.run

    def looked_at(argv: list[str], *, cwd: Path, **given: object) -> web.Ended:
        ended = run(argv, cwd=cwd, **given)  # type: ignore[arg-type]
        seen.extend(f"{path.name} by {argv}" for path in cwd.iterdir())
        return ended

    monkeypatch.setattr(web, "run", looked_at)
    return seen


@pytest.mark.parametrize("jdk", [OWN_JDK, "openjdk-17.0.9"])
def test_flags_that_write_files_or_open_ports_are_left_to_the_hosts(
    artefacts: Artefacts, left: list[str], jdk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = {flag: artefacts.refusal([flag, "-Dcom.sun.management.jmxremote.port=7199"], jdk) for flag in HARMFUL}
    unknown = [flag for flag, message in refused.items() if message.startswith("Unrecognized VM option")]
    assert artefacts.unasked(HARMFUL, jdk) == [flag for flag in HARMFUL if flag not in unknown]
    assert {flag: message for flag, message in refused.items() if message and flag not in unknown} == {}
    assert left == []
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


@pytest.mark.parametrize("jdk", [OWN_JDK, "openjdk-17.0.9"])
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["-XX:+UseG1GC", "-XX:MaxGCPauseMilis=200"], "MaxGCPauseMilis"),
        (["-XX:+UseNUMAA"], "UseNUMAA"),
        (["-XX:+UseG1GC", "-XX:+UseSerialGC"], "multiple|Multiple|Conflicting"),
        (["-XX:MaxTenuringThreshold=99"], "MaxTenuringThreshold"),
        (["-XX:ConcGCThreads=many"], "ConcGCThreads"),
    ],
)
def test_a_jvm_still_says_what_is_wrong_with_other_flags(
    artefacts: Artefacts, left: list[str], jdk: str, flags: list[str], message: str
) -> None:
    assert re.search(message, artefacts.refusal(flags, jdk))
    assert left == []
