import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile

import pytest
from ruamel.yaml import YAML
from tests.fakes.artefacts import HINTS, EmptyArtefacts
from tests.fakes.clock import SteppingClock
from tests.fakes.scripted_host import ScriptedHost
from tests.support.resolved import only_part

from plimsoll.adapters.products.cassandra import Cassandra, build_jars
from plimsoll.domain.campaign.resolve import variant_spec
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import CommandResult, JobStatus
from plimsoll.services.cell.collect import files_of_processes

LISTENING = "INFO  [main] InboundConnectionInitiator.java:127 - Listening on address: (/127.9.9.1:7000)\n"
READY = f"{LISTENING}INFO  [main] CassandraDaemon.java:780 - Startup complete\n"
LIFETIME = timedelta(hours=1)


@pytest.fixture
def cassandra(artefacts: EmptyArtefacts, clock: SteppingClock) -> Cassandra:
    return Cassandra(artefacts, clock)


@pytest.fixture
def healthy(nodes: list[Any], load: ScriptedHost) -> Any:
    """Nodes that come up at once, and a probe that is content."""
    for node in nodes:
        node.on_start = speaker(node, READY)
    load.command = lambda _: CommandResult(0, json.dumps({"ready": True, "reason": None}), "")
    return nodes


def speaker(node: Any, text: Any) -> Any:
    return lambda _: node.write(node.root / "cassandra/logs/system.log", text)


def deploy(cassandra: Any, define: Any, nodes: Any, load: Any) -> None:
    definition = define()
    cassandra.deploy(variant_spec(only_part(definition), definition.variants[0]), nodes, load, LIFETIME)


def settings_of(node: Any) -> Any:
    text = node.read_tail(node.root / "cassandra/conf/cassandra.yaml", max_bytes=100_000)
    return YAML(typ="safe").load(text)


def test_every_node_is_one_job_that_owns_its_data_and_ends_by_itself(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    deploy(cassandra, define, healthy, load)
    for node in healthy:
        job = node.jobs["cassandra"]
        assert job.expires == LIFETIME
        assert job.owns == node.root / "cassandra/data"
        assert job.env == {"MALLOC_ARENA_MAX": "4"}
        assert "-Xmx512M" in job.argv


def test_nodes_share_the_ring_and_the_seed(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    deploy(cassandra, define, healthy, load)
    rendered = [settings_of(node) for node in healthy]
    tokens = [token for settings in rendered for token in settings["initial_token"].split(",")]
    assert len(set(tokens)) == 48
    assert {settings["seed_provider"][0]["parameters"][0]["seeds"] for settings in rendered} == {"127.9.9.1"}
    assert [settings["listen_address"] for settings in rendered] == ["127.9.9.1", "127.9.9.2", "127.9.9.3"]


def test_what_the_release_tells_the_compiler_comes_along(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    deploy(cassandra, define, healthy, load)
    hints = healthy[0].read_tail(healthy[0].root / "cassandra/conf/hotspot_compiler", max_bytes=10_000)
    assert hints == f"quiet\n{HINTS}"


def test_the_other_nodes_wait_until_the_seed_listens(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost, clock: SteppingClock
) -> None:
    healthy[0].on_start = speaker(healthy[0], "INFO still reading\n")
    with pytest.raises(DeployError, match="never said 'Listening on address:'"):
        deploy(cassandra, define, healthy, load)
    assert [bool(node.jobs) for node in healthy] == [True, False, False]
    assert clock.naps > 0


@pytest.mark.parametrize(("system", "waited_s"), [({}, 300), ({"start_within": "12m"}, 720)])
def test_nodes_have_as_long_to_start_as_the_definition_says(
    cassandra: Cassandra,
    define: Callable[..., Any],
    healthy: Any,
    load: ScriptedHost,
    clock: SteppingClock,
    system: dict[str, Any],
    waited_s: float,
) -> None:
    healthy[0].on_start = speaker(healthy[0], "INFO still reading\n")
    definition, began = define(system={"version": "4.0.1", **system}), clock.now()
    with pytest.raises(DeployError, match="write `start_within` below system"):
        cassandra.deploy(variant_spec(only_part(definition), definition.variants[0]), healthy, load, LIFETIME)
    assert (clock.now() - began).total_seconds() == pytest.approx(waited_s, abs=1)


def test_nodes_that_start_early_have_the_rest_of_the_time_to_become_a_cluster(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    definition = define(system={"version": "4.0.1", "start_within": "12m"})
    cassandra.deploy(variant_spec(only_part(definition), definition.variants[0]), healthy, load, LIFETIME)
    (argv,) = load.commands
    assert argv[-1] == "720s"


def test_hosts_are_brought_what_they_need_while_the_seed_comes_up(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = list[tuple[ScriptedHost, str]]()

    def install(host: ScriptedHost, bundle: Path) -> Path:
        brought.append((host, bundle.name))
        return bundle

    monkeypatch.setattr(ScriptedHost, "install", install)
    healthy[0].on_start = speaker(healthy[0], "INFO still reading\n")
    with pytest.raises(DeployError, match="never said 'Listening on address:'"):
        deploy(cassandra, define, healthy, load)
    assert set(brought) >= {(node, "cassandra-4.0.1") for node in healthy}
    assert set(brought) >= {(host, bundle) for host in (load, *healthy) for bundle in ("openjdk-11.0.13", "nodes")}


def test_nodes_of_an_archive_run_its_jars(
    cassandra: Cassandra, artefacts: EmptyArtefacts, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    archive = {"url": "https://ci.example/apache-cassandra-4.0.1-bin.tar.gz", "sha256": "ab" * 32}
    definition = define(variant={"archive": archive})
    with ZipFile(build_jars(artefacts, definition.variants[0].archive) / "apache-cassandra-4.0.1.jar", "w") as jar:
        jar.writestr("META-INF/hotspot_compiler", HINTS)
    cassandra.deploy(variant_spec(only_part(definition), definition.variants[0]), healthy, load, LIFETIME)
    argv = healthy[0].jobs["cassandra"].argv
    (jar_path,) = argv[argv.index("-cp") + 1].split(":")
    assert jar_path.endswith(f"{'ab' * 32}/lib/apache-cassandra-4.0.1.jar")
    assert HINTS in healthy[0].read_tail(healthy[0].root / "cassandra/conf/hotspot_compiler", max_bytes=10_000)


def test_a_seed_that_listens_is_enough_for_the_others_to_start(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    healthy[0].on_start = speaker(healthy[0], LISTENING)
    with pytest.raises(DeployError, match="never said 'Startup complete'"):
        deploy(cassandra, define, healthy, load)
    assert [bool(node.jobs) for node in healthy] == [True, True, True]


def test_deploying_again_starts_nothing_anew(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    deploy(cassandra, define, healthy, load)
    jobs = [node.jobs["cassandra"] for node in healthy]
    deploy(cassandra, define, healthy, load)
    assert all(node.jobs["cassandra"] is job for node, job in zip(healthy, jobs, strict=True))


def test_a_release_that_is_not_known_is_refused_before_anything_starts(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    definition = define(system={"version": "2.1.0"})
    with pytest.raises(DeployError, match=r"2\.1\.0"):
        cassandra.deploy(variant_spec(only_part(definition), definition.variants[0]), healthy, load, LIFETIME)
    assert not healthy[0].jobs


def test_nodes_that_are_down_are_told_one_by_one(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    deploy(cassandra, define, healthy, load)
    assert list(cassandra.down(healthy)) == []
    healthy[1].statuses["cassandra"] = JobStatus("exited", 137)
    (sentence,) = cassandra.down(healthy)
    assert sentence.startswith("node2 (127.9.9.2) ended with signal 9")


def test_logs_and_settings_are_kept_and_data_is_not(
    cassandra: Cassandra, define: Callable[..., Any], healthy: Any, load: ScriptedHost
) -> None:
    deploy(cassandra, define, healthy, load)
    node = healthy[0]
    for path in ("cassandra/logs/gc.log", "cassandra/data/tables/big.db", "jobs/cassandra.log", "jobs/sampler.log"):
        node.write(PurePosixPath(node.root, path), "content")
    [files] = files_of_processes(node, cassandra.processes(define().variants[0])).values()
    names = [path.name for path in files]
    assert names == ["cassandra.yaml", "command.txt", "gc.log", "system.log", "cassandra.log"]
