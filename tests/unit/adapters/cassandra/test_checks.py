from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.domain.campaign.resolve import product_spec, resolve
from plimsoll.domain.campaign.specs import ProductSpec
from plimsoll.domain.text.errors import Problem


def problems(spec: ProductSpec, artefacts: EmptyArtefacts) -> Sequence[Problem]:
    return Cassandra(artefacts, SystemClock()).check(spec)


def unchecked_flags(spec: ProductSpec, artefacts: EmptyArtefacts) -> Sequence[str]:
    return Cassandra(artefacts, SystemClock()).unchecked(spec)


def test_a_definition_that_can_be_run_has_no_problems(define: Callable[..., Any], artefacts: EmptyArtefacts) -> None:
    assert list(problems(product_spec(resolve(define()), "cassandra"), artefacts)) == []
    assert list(problems(product_spec(resolve(define(jvm={"flag_set": "tlp-2020"})), "cassandra"), artefacts)) == []
    assert list(problems(product_spec(resolve(define(jvm={"initial_heap": "256M"})), "cassandra"), artefacts)) == []


@pytest.mark.parametrize(
    ("changes", "where", "what"),
    [
        ({"system": {"version": "2.1.0"}}, "variants[0] (g1)", "Cassandra 2.1.0 is of no release line known here"),
        ({"system": {"version": "4.0.99"}}, "system.version", "4.0.99 can't be had"),
        ({"variant": {"version": "2.2.9"}}, "variants[0] (g1)", "2.2.9"),
        ({"variant": {"version": "3.11.19"}}, "variants[0] (g1).jvm.jdk", "Cassandra 3.11 is not run on JDK 11 here"),
        ({"jvm": {"jdk": "openjdk-21.0.1"}}, "variants[0] (g1).jvm.jdk", "is not run on JDK 21"),
        ({"jvm": {"jdk": "prime-11.0.13"}}, "jvm.jdk", "there is no JDK prime-11.0.13"),
        ({"jvm": {"collector": "C4"}}, "variants[0] (g1).jvm.collector", "openjdk-11.0.13 has no collector C4"),
        ({"jvm": {"flags": ["-Da=b", "-XX:NoSuchFlag"]}}, "variants[0] (g1).jvm.flags[1]", "Unrecognized VM option"),
        ({"jvm": {"flags": ["UseNUMA"]}}, "variants[0] (g1).jvm.flags[0]", "'UseNUMA' is no flag of a JVM"),
        ({"jvm": {"flags": ["-jar"]}}, "variants[0] (g1).jvm.flags[0]", "'-jar' is no flag of a JVM"),
        ({"jvm": {"flags": ["-Xmx4G"]}}, "variants[0] (g1).jvm.flags[0]", "-Xmx4G sets the heap, which `heap` already"),
        ({"jvm": {"flags": ["-XX:MaxRAMPercentage=80"]}}, "variants[0] (g1).jvm.flags[0]", "sets the heap"),
        ({"jvm": {"flags": ["-Xms256M"]}}, "variants[0] (g1).jvm.flags[0]", "-Xms256M sets the heap"),
        ({"jvm": {"heap": "64M"}}, "variants[0] (g1).jvm.heap", "64M is too small"),
        ({"jvm": {"initial_heap": "64M"}}, "variants[0] (g1).jvm.initial_heap", "64M is too small"),
        (
            {"jvm": {"collector": "Serial", "flag_set": "tlp-2020"}},
            "variants[0] (g1).jvm.flag_set",
            "tlp-2020 has no flags for Serial",
        ),
        (
            {"system": {"version": "4.0.1", "settings": {"listen_address": "10.0.0.1"}}},
            "system.settings.listen_address",
            'can\'t be set: Plimsoll writes it for each node; found "10.0.0.1"',
        ),
    ],
)
def test_what_can_t_be_run_is_named_with_a_way_out(
    define: Callable[..., Any], artefacts: EmptyArtefacts, changes: dict[str, Any], where: str, what: str
) -> None:
    found = [
        problem
        for problem in problems(product_spec(resolve(define(**changes)), "cassandra"), artefacts)
        if problem.where == where
    ]
    assert any(what in problem.what for problem in found)
    assert all(problem.mend for problem in found)


def archived(sha256: str, version: str = "4.0.1") -> dict[str, Any]:
    return {"version": version, "archive": {"url": "https://ci.example/build.tar.gz", "sha256": sha256}}


def test_a_build_from_an_archive_needs_no_published_release(
    define: Callable[..., Any], artefacts: EmptyArtefacts
) -> None:
    spec = product_spec(resolve(define(variant=archived("ab" * 32))), "cassandra")
    assert list(problems(spec, artefacts)) == []
    build, _, tool = Cassandra(artefacts, SystemClock()).downloads(spec)
    assert (build.name, build.is_there) == ("Cassandra 4.0.1 from the archive of variant g1", True)
    assert tool.name == "node-tool"


@pytest.mark.parametrize(
    ("variant", "what", "mend"),
    [
        (archived("ff" * 32), "there is no lib/apache-cassandra-[0-9]*.jar in it", "check the `archive`"),
        (archived("00" * 32), "Cassandra of variant g1 is not in the cache", "`plimsoll prepare small`"),
        (
            archived("ab" * 32, "4.0.2-SNAPSHOT"),
            "it holds Cassandra 4.0.1, and the definition says 4.0.2-SNAPSHOT",
            'write `version: "4.0.1"` beside it',
        ),
    ],
)
def test_an_archive_that_is_not_here_or_of_another_release_is_told(
    define: Callable[..., Any], artefacts: EmptyArtefacts, variant: dict[str, Any], what: str, mend: str
) -> None:
    found = problems(product_spec(resolve(define(variant=variant)), "cassandra"), artefacts)
    [problem] = [one for one in found if one.where == "variants[0] (g1).archive"]
    assert problem.what.endswith(what)
    assert mend in problem.mend


@pytest.mark.parametrize(
    ("tokens", "found"), [(0, "0"), (1537, "1537"), (True, "true"), ("many", '"many"'), ([1] * 60, f"[{'1, ' * 19}1,…")]
)
def test_a_wrong_number_of_tokens_is_shown_with_what_to_write(
    define: Callable[..., Any], artefacts: EmptyArtefacts, tokens: Any, found: str
) -> None:
    [problem] = problems(
        product_spec(resolve(define(variant={"settings": {"num_tokens": tokens}})), "cassandra"), artefacts
    )
    assert problem.where == "variants[0] (g1).settings.num_tokens"
    assert problem.what.startswith(f"must be a number of tokens; found {found}")
    assert problem.mend == "write a whole number from 1 to 1536, such as `num_tokens: 16`"


def test_flags_that_nobody_here_can_be_asked_about_are_named(
    define: Callable[..., Any], artefacts: EmptyArtefacts
) -> None:
    elsewhere = define(jvm={"jdk": "prime-11.0.13", "flags": ["-XX:+UseNUMA"]})
    assert list(unchecked_flags(product_spec(resolve(elsewhere), "cassandra"), artefacts)) == [
        "prime-11.0.13 is not here: the JVM flags of variant g1 were not asked of it"
    ]
    with_agent = define(jvm={"flags": ["-javaagent:/opt/agent.jar", "-Da=b"]})
    (agent,) = unchecked_flags(product_spec(resolve(with_agent), "cassandra"), artefacts)
    assert agent.endswith("were not asked: -javaagent:/opt/agent.jar")
    assert list(unchecked_flags(product_spec(resolve(define()), "cassandra"), artefacts)) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("heap_dump_path", "/home/someone"),
        ("local_system_data_file_directory", "/home/someone"),
        ("audit_logging_options", {"enabled": True, "audit_logs_dir": "/home/someone"}),
        ("audit_logging_options.audit_logs_dir", "/home/someone"),  # 4.1 takes places as keys
        ("full_query_logging_options", {"log_dir": "/home/someone"}),
        ("full_query_logging_options", {"archive_command": "/bin/sh -c id"}),
        ("full_query_logging_options", {"allow_nodetool_archive_command": True}),
        ("startup_checks", {"check_data_resurrection": {"enabled": True, "heartbeat_file": "/home/someone/file"}}),
        ("memtable", {"configurations": [{"pmem": {"parameters": {"path": "/mnt/pmem"}}}]}),
        ("seed_provider.class_name", "Other"),
        ("listen_interface", "eth0"),
        ("rpc_interface", "eth0"),
        ("broadcast_address", "10.0.0.1"),
        ("broadcast_rpc_address", "10.0.0.1"),
        ("listen_on_broadcast_address", True),
        ("native_transport_port_ssl", 9142),
        ("ssl_storage_port", 22),
        ("server_encryption_options", {"legacy_ssl_storage_port_enabled": True}),
        ("start_rpc", True),
        ("enable_user_defined_functions", True),
        ("scripted_user_defined_functions_enabled", True),
        ("user_defined_functions_threads_enabled", False),
        ("allow_extra_insecure_udfs", True),
    ],
)
def test_settings_that_reach_beyond_the_node_are_refused(
    define: Callable[..., Any], artefacts: EmptyArtefacts, key: str, value: Any
) -> None:
    [of_system] = problems(
        product_spec(resolve(define(system={"version": "4.0.1", "settings": {key: value}})), "cassandra"), artefacts
    )
    assert of_system.where.startswith(f"system.settings.{key}")
    assert (of_system.what[:14], of_system.mend) == ("can't be set: ", "remove the line")
    [of_variant] = problems(product_spec(resolve(define(variant={"settings": {key: value}})), "cassandra"), artefacts)
    assert of_variant.where.startswith(f"variants[0] (g1).settings.{key}")


def test_settings_that_only_cassandra_knows_are_left_to_it(
    define: Callable[..., Any], artefacts: EmptyArtefacts
) -> None:
    system = {
        "version": "4.0.1",
        "settings": {"no_such_setting": 1, "file_cache_size_in_mb": 64, "max_hints_file_size": "128MiB"},
    }
    assert list(problems(product_spec(resolve(define(system=system)), "cassandra"), artefacts)) == []


def test_all_problems_are_found_at_once(define: Callable[..., Any], artefacts: EmptyArtefacts) -> None:
    definition = define(
        system={"version": "4.0.1", "settings": {"cluster_name": "mine"}}, jvm={"collector": "C4", "heap": "1M"}
    )
    assert len(problems(product_spec(resolve(definition), "cassandra"), artefacts)) == 3


def test_a_variant_without_a_jvm_is_told_that_cassandra_needs_one(
    define: Callable[..., Any], artefacts: EmptyArtefacts
) -> None:
    definition = define()
    without = definition.variants[0].model_copy(update={"jvm": None})
    [problem] = problems(
        product_spec(resolve(definition.model_copy(update={"variants": (without,)})), "cassandra"), artefacts
    )
    assert (problem.where, problem.what) == (
        "variants[0] (g1).jvm",
        "Cassandra runs in a JVM, and variant 'g1' has none",
    )
    assert problem.mend.startswith("write e.g. `jvm: {jdk: ")


def test_variants_of_another_product_are_no_concern_of_cassandra_s(
    define: Callable[..., Any], artefacts: EmptyArtefacts
) -> None:
    definition = define()
    other = definition.variants[0].model_copy(
        update={"id": "other", "product": "hbase", "version": "2.6.4", "jvm": None}
    )
    both = definition.model_copy(update={"variants": (*definition.variants, other)})
    assert list(problems(product_spec(resolve(both), "cassandra"), artefacts)) == []
