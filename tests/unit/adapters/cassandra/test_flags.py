import re
from typing import Any, get_args

import pytest

from plimsoll.adapters.products.cassandra.command import TLP_2020, collector_flags
from plimsoll.adapters.products.cassandra.release import CASSANDRA_4_0, Release, release_of
from plimsoll.adapters.products.nodes.jvm_flags import gc_log_flags, heap_flags, jdk_major
from plimsoll.domain.keys.variant import Collector, JvmConfiguration

ADDED_TO_CMS = "-XX:+UseCondCardMark"
"""By the script that starts Cassandra, whatever flags a publication changes."""
# Word for word from the publication, less heap, and for CMS less what only JDK 8 knows.
PUBLISHED = {
    "CMS": "-XX:+UseConcMarkSweepGC -XX:+CMSParallelRemarkEnabled -XX:SurvivorRatio=8 -XX:MaxTenuringThreshold=1 "
    "-XX:CMSInitiatingOccupancyFraction=75 -XX:+UseCMSInitiatingOccupancyOnly -XX:CMSWaitDuration=10000 "
    "-XX:+CMSParallelInitialMarkEnabled -XX:+CMSEdenChunksRecordAlways -XX:+CMSClassUnloadingEnabled "
    "-XX:ParallelGCThreads=8 -XX:ConcGCThreads=8 -Xmn8G",
    "G1": "-XX:+UseG1GC -XX:G1RSetUpdatingPauseTimePercent=5 -XX:MaxGCPauseMillis=300 "
    "-XX:InitiatingHeapOccupancyPercent=70 -XX:ParallelGCThreads=8 -XX:ConcGCThreads=8",
    "ZGC": "-XX:+UnlockExperimentalVMOptions -XX:+UseZGC -XX:ConcGCThreads=8 -XX:ParallelGCThreads=8 "
    "-XX:+UseTransparentHugePages -verbose:gc",
    "Shenandoah": "-XX:+UnlockExperimentalVMOptions -XX:+UseShenandoahGC -XX:ConcGCThreads=8 -XX:ParallelGCThreads=8 "
    "-XX:+UseTransparentHugePages",
}


def jvm(collector: str = "G1", heap: str = "16G", jdk: str = "openjdk-11.0.13", **more: Any) -> JvmConfiguration:
    return JvmConfiguration.model_validate({"jdk": jdk, "collector": collector, "heap": heap, **more})


def known(version: str) -> Release:
    release = release_of(version)
    assert release is not None
    return release


@pytest.mark.parametrize("collector", PUBLISHED)
def test_the_tlp_2020_flags_are_word_for_word_as_published(collector: Any) -> None:
    flags = collector_flags(CASSANDRA_4_0, jvm(collector, flag_set="tlp-2020"), cpus=8)
    assert " ".join(flag for flag in flags if flag != ADDED_TO_CMS) == PUBLISHED[collector]
    assert TLP_2020.keys() == PUBLISHED.keys()


@pytest.mark.parametrize("collector", get_args(Collector))
def test_shipped_flags_choose_one_collector_exactly(collector: Any) -> None:
    chosen = [
        flag for flag in collector_flags(CASSANDRA_4_0, jvm(collector), cpus=8) if re.match(r"-XX:\+Use\w+GC$", flag)
    ]
    assert len(chosen) == (0 if collector == "C4" else 1)


def test_collectors_that_the_release_ships_no_flags_for_are_only_chosen() -> None:
    assert collector_flags(CASSANDRA_4_0, jvm("Shenandoah"), cpus=8) == ("-XX:+UseShenandoahGC",)
    assert collector_flags(CASSANDRA_4_0, jvm("ZGC"), cpus=8) == ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC")
    assert collector_flags(CASSANDRA_4_0, jvm("C4"), cpus=8) == ()


def test_g1_runs_with_the_flags_that_the_release_ships() -> None:
    assert collector_flags(CASSANDRA_4_0, jvm("G1"), cpus=8) == (
        "-XX:+UseG1GC",
        "-XX:+ParallelRefProcEnabled",
        "-XX:G1RSetUpdatingPauseTimePercent=5",
        "-XX:MaxGCPauseMillis=500",
    )


@pytest.mark.parametrize(
    ("heap", "cpus", "young"), [("40G", 8, "-Xmn800M"), ("512M", 2, "-Xmn128M"), ("512M", 1, "-Xmn100M")]
)
def test_the_young_generation_of_cms_is_sized_as_the_release_s_script_does(heap: str, cpus: int, young: str) -> None:
    assert collector_flags(CASSANDRA_4_0, jvm("CMS", heap), cpus=cpus)[-1] == young


def test_the_heap_is_of_one_size_in_whole_mebibytes() -> None:
    assert heap_flags(jvm(heap="40G")) == ("-Xms40G", "-Xmx40G")
    assert heap_flags(jvm(heap="1.5G")) == ("-Xms1536M", "-Xmx1536M")


def test_a_heap_may_begin_smaller() -> None:
    assert heap_flags(jvm("ZGC", heap="64G", initial_heap="16G")) == ("-Xms16G", "-Xmx64G")


def test_an_initial_heap_that_nobody_gave_is_not_stored() -> None:
    assert "initial_heap" not in jvm().model_dump(mode="json")
    assert jvm(initial_heap="8G").model_dump(mode="json")["initial_heap"] == "8G"


def test_the_gc_log_is_one_file_with_times_and_tags() -> None:
    wanted = "-Xlog:gc*,safepoint:file=logs/gc.log:time,uptime,level,tags:filecount=0"
    assert gc_log_flags(jvm(), "logs/gc.log") == (wanted,)


def test_jdk_8_has_its_own_flags_for_a_gc_log() -> None:
    first, *others = gc_log_flags(jvm(jdk="openjdk-8"), "logs/gc.log")
    assert first == "-Xloggc:logs/gc.log"
    assert {"-XX:+PrintGCDetails", "-XX:+PrintGCDateStamps", "-XX:+PrintGCApplicationStoppedTime"} <= set(others)


def test_the_publication_s_parnew_is_given_to_jdk_8_alone() -> None:
    on_8 = collector_flags(known("3.11.6"), jvm("CMS", jdk="openjdk-8", flag_set="tlp-2020"), cpus=8)
    assert " ".join(flag for flag in on_8 if flag != ADDED_TO_CMS) == f"-XX:+UseParNewGC {PUBLISHED['CMS']}"


@pytest.mark.parametrize("version", ["3.11.6", "4.0-alpha4", "4.1.10", "5.0.9"])
@pytest.mark.parametrize("flag_set", ["shipped", "tlp-2020"])
def test_cms_also_gets_the_flag_that_the_release_s_script_adds(version: str, flag_set: str) -> None:
    def flags(collector: str) -> tuple[str, ...]:
        return collector_flags(known(version), jvm(collector, flag_set=flag_set), cpus=8)

    assert flags("CMS").count(ADDED_TO_CMS) == 1
    assert ADDED_TO_CMS not in flags("G1")


@pytest.mark.parametrize(
    ("version", "line"),
    [("3.11.19", "3.11"), ("4.0-alpha4", "4.0"), ("4.0.1", "4.0"), ("4.1.10", "4.1"), ("5.0.9", "5.0")],
)
def test_the_line_of_a_release(version: str, line: str) -> None:
    assert known(version).line == line


@pytest.mark.parametrize("version", ["3.1.0", "4.10.0", "2.2.19", "4"])
def test_a_release_of_no_known_line(version: str) -> None:
    assert release_of(version) is None


@pytest.mark.parametrize(
    ("version", "jdks"),
    [("3.11.19", {8}), ("4.0.1", {8, 11, 14, 16, 17}), ("4.1.10", {11}), ("5.0.9", {11, 17})],
)
def test_the_jdks_that_a_line_is_run_on(version: str, jdks: set[int]) -> None:
    assert set(known(version).jdk_flags) == jdks


@pytest.mark.parametrize("major", [16, 17])
def test_4_0_opens_packages_that_it_reads_by_reflection_on_jdks_that_close_them(major: int) -> None:
    flags = known("4.0.1").jdk_flags[major]
    # Cassandra's NativeLibrary reads a field of the first, its SyncUtil one of the second, jamm those of the third.
    for package in ("java.io", "java.nio", "java.util.concurrent"):
        assert f"--add-opens=java.base/{package}=ALL-UNNAMED" in flags


def test_each_line_has_what_a_node_can_not_start_without() -> None:
    for version in ("3.11.19", "4.0.1", "4.1.10", "5.0.9"):
        settings = known(version).settings
        assert {"num_tokens", "partitioner", "endpoint_snitch", "commitlog_sync"} <= settings.keys()


def test_the_alphas_of_4_0_have_the_configuration_that_they_were_shipped_with() -> None:
    alpha, released = known("4.0-alpha4"), known("4.0.1")
    shipped = {"num_tokens": 256, "compaction_throughput_mb_per_sec": 16}
    assert alpha.settings == {**released.settings, **shipped}
    assert alpha.jvm_flags == (*released.jvm_flags, "-XX:StringTableSize=1000003")


def test_5_0_on_jdk_17_takes_no_flag_that_later_jdks_have_no_more() -> None:
    release = known("5.0.9")
    assert "-XX:-UseBiasedLocking" not in (*release.jvm_flags, *release.jdk_flags[17])
    assert "-XX:-UseBiasedLocking" in release.jdk_flags[11]


@pytest.mark.parametrize(("jdk", "major"), [("openjdk-11.0.13", 11), ("openjdk-17", 17), ("openjdk-1.8.0", 8)])
def test_the_major_version_of_a_jdk(jdk: str, major: int) -> None:
    assert jdk_major(jvm(jdk=jdk)) == major
