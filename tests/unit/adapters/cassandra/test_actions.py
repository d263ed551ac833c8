"""Actions on Cassandra's nodes, over hosts that do what a test says: their jobs, and when they have ended."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.clock import SteppingClock
from tests.fakes.scripted_host import ScriptedHost
from tests.support.resolved import only_part

from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.adapters.products.cassandra.acting import join_parts
from plimsoll.domain.campaign.resolve import variant_spec
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.keys.action import Action, ActionBegin, ActionName, RecordedAction
from plimsoll.domain.text.errors import ActionError
from plimsoll.ports.host import CommandResult, JobStatus
from plimsoll.ports.product import ActionRequest, ActionStatus

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def nodes(tmp_path: Path) -> list[Any]:
    """Provide three nodes that run, and a host without one, all on one machine."""
    found = []
    for n in (1, 2, 3, 4):
        info = HostInfo(name=f"node{n}", role="node", address=f"127.9.9.{n}", facts={"machine": "m"})
        found.append(ScriptedHost(tmp_path / f"node{n}", info))
    for node in found[:3]:
        node.statuses["cassandra"] = JobStatus("running")
    return found


class Acted:
    """An action on those nodes, looked at again and again."""

    def __init__(self, artefacts: EmptyArtefacts, define: Callable[..., Any], nodes: list[Any], action: Action) -> None:
        self.cassandra, self.nodes, definition = Cassandra(artefacts, SteppingClock()), nodes, define()
        self.request = ActionRequest(
            action,
            variant_spec(only_part(definition), definition.variants[0]),
            nodes[:3],
            nodes[3 : 3 + action.spares],
            timedelta(hours=1),
            AT,
        )

    def look(self) -> ActionStatus:
        return self.cassandra.act(self.request)

    def look_after(self, seconds: float) -> ActionStatus:
        self.request = replace(self.request, now=AT + timedelta(seconds=seconds))
        return self.look()

    def end(self, host: Any, job: str, after_s: float = 0, **told: Any) -> None:
        answer = {"ended_ms": (AT.timestamp() + after_s) * 1000, "error": None, **told}
        host.write(host.root / f"jobs/{job}.log", f"a warning\n{json.dumps(answer)}\n")
        host.statuses[job] = JobStatus("exited", 3 if answer["error"] else 0)

    def agree(self, host: Any, job: str, *up: int, received: int = 0, after_s: float = 0, looks: int = 9) -> None:
        rings = [{"received_bytes": received * (n == up[-1])} for n in up]
        self.end(host, job, after_s, nodes=rings, looks=looks)


@pytest.fixture
def acted(artefacts: EmptyArtefacts, define: Callable[..., Any], nodes: list[Any]) -> Callable[..., Acted]:
    def made(name: ActionName, count: int | None = None, **further: Any) -> Acted:
        return Acted(artefacts, define, nodes, Action(name=name, count=count, **further))

    return made


def argument(job: Any, option: str) -> str:
    return str(job.argv[list(job.argv).index(option) + 1])


def test_compactions_are_one_job_of_the_machine_and_each_node_tells_its_bytes(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    action = acted("compact")
    assert action.look().end is None
    job = nodes[0].jobs["action-compact"]
    assert argument(job, "--jmx-port") == "127.9.9.1:7199,127.9.9.2:7199,127.9.9.3:7199"
    nodes[0].write(nodes[0].root / "jobs/action-compact.log", '{"progress": "127.9.9.1 40 %"}\n')
    assert action.look().note == "compact: 127.9.9.1 40 %"
    done = {"seconds": 2.5, "bytes_before": 2000, "bytes_after": 1000}
    action.end(nodes[0], "action-compact", nodes=[done, done, done])
    end = action.look().end
    assert end is not None
    assert (end.at, end.nodes) == (AT, ("node1", "node2", "node3"))
    assert end.evidence[0].startswith("node1 compacted 2,000 to 1,000 bytes in 2.5 s; node2 ")


def test_a_count_of_nodes_is_compacted_and_the_others_are_not(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    acted("compact", 1).look()
    assert argument(nodes[0].jobs["action-compact"], "--jmx-port") == "127.9.9.1:7199"


def test_nodes_are_repaired_one_after_the_other_by_their_own_word(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    action = acted("repair", 2)
    assert action.look().note == "repair: repair"
    nodes[0].write(nodes[0].root / "jobs/action-node1-repaired.log", '{"progress": "7 of 48 repaired"}\n')
    assert action.look().note == "repair: 7 of 48 repaired"
    assert "action-node2-repaired" not in nodes[1].jobs
    for number in (1, 2):
        told = {"keyspaces": ["mine"], "seconds": 15.25}
        action.end(nodes[number - 1], f"action-node{number}-repaired", nodes=[told])
        found = action.look()
    assert found.end is not None
    assert found.end.evidence[1] == "node2 repaired mine with the other replicas in 15.25 s"
    assert [(one.name, one.seconds) for one in found.end.parts] == [("node1: repair", 15.25), ("node2: repair", 15.25)]
    assert found.end.nodes == ("node1", "node2", "node3")


def test_a_repair_that_failed_fails_the_action(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    action = acted("repair")
    action.look()
    action.end(nodes[0], "action-node1-repaired", nodes=[None], error="127.9.9.1: mine: finished with error")
    with pytest.raises(ActionError, match=r"repair failed: .* finished with error"):
        action.look()


def test_a_node_that_left_is_ended_and_forgotten_by_all_others(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    action = acted("decommission")
    action.look()
    assert argument(nodes[2].jobs["action-node3-left"], "--jmx-port") == "127.9.9.3:7199"
    assert nodes[2].stopped == []
    job = nodes[0].jobs["action-node3-gone"]
    assert (argument(job, "--up"), argument(job, "--gone")) == ("127.9.9.1,127.9.9.2", "127.9.9.3")
    action.end(nodes[2], "action-node3-left", nodes=[{"mode": "DECOMMISSIONED", "seconds": 17.5}])
    action.look()
    assert nodes[2].stopped == ["cassandra"], "its JVM stays up after it has left"
    action.agree(nodes[0], "action-node3-gone", 1, 2)
    end = action.look().end
    assert end is not None
    assert end.nodes == ("node1", "node2")
    assert [(one.name, one.seconds) for one in end.parts] == [("node3: handing over", 17.5)]


def test_a_killed_node_comes_back_when_its_time_is_over_and_is_not_killed_again(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    action = acted("kill-node", down_for=timedelta(seconds=60))
    action.look()
    nodes[2].statuses["cassandra"] = JobStatus("exited", 137)
    action.agree(nodes[0], "action-node3-down", 1, 2)
    assert action.look().note == "kill-node: node3 stays down for 60 s more"
    action.request = replace(action.request, now=AT + timedelta(seconds=60))
    action.look()
    assert "cassandra-restarted" in nodes[2].jobs
    nodes[2].statuses["cassandra-restarted"] = JobStatus("running")
    action.agree(nodes[0], "action-node3-up", 1, 2, 3)
    end = action.look().end
    assert end is not None
    assert end.nodes == ("node1", "node2", "node3")
    assert "cassandra-restarted" not in nodes[2].stopped


def test_a_killed_node_is_down_when_all_others_say_so(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    action = acted("kill-node")
    nodes[2].write(nodes[2].root / "jobs/cassandra.job", '{"pid": 41, "child": 42}')
    action.look()
    assert nodes[2].commands[-1] == ("kill", "-KILL", "--", "-42"), "asked to end it would tell the others"
    job = nodes[0].jobs["action-node3-down"]
    assert (argument(job, "--up"), argument(job, "--down")) == ("127.9.9.1,127.9.9.2", "127.9.9.3")
    action.agree(nodes[0], "action-node3-down", 1, 2)
    end = action.look().end
    assert end is not None
    assert end.nodes == ("node1", "node2")
    assert end.evidence == (
        "2 nodes agree that all of them are up, listen for clients and stream nothing, node3 is down",
    )
    assert end.streamed_bytes is None


def test_the_next_node_is_killed_only_once_the_first_is_seen_down(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    action = acted("kill-node", 2)
    action.look()
    action.look()
    assert (nodes[1].stopped != [], nodes[2].stopped != []) == (True, False)
    action.agree(nodes[0], "action-node2-down", 1, 3)
    assert action.look().end is None
    assert nodes[2].stopped == ["cassandra"]
    nodes[1].statuses["cassandra"] = nodes[2].statuses["cassandra"] = JobStatus("exited", 137)
    assert action.look().end is None, "that the second one is down now is no fault of the first one's death"
    job = nodes[0].jobs["action-node3-down"]
    assert (argument(job, "--up"), argument(job, "--down")) == ("127.9.9.1", "127.9.9.2,127.9.9.3")


def test_nodes_start_again_one_after_the_other_with_a_job_and_a_gc_log_of_their_own(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    action = acted("restart")
    action.look()
    action.look()
    assert nodes[0].stopped == ["cassandra"], "it is ended once, whoever looks again"
    again = nodes[0].jobs["cassandra-restarted"]
    assert any("gc-restarted.log" in word for word in again.argv)
    assert "cassandra-restarted" not in nodes[1].jobs
    for number, node in enumerate(nodes[:3], start=1):
        node.statuses["cassandra"] = JobStatus("exited", 143)
        action.agree(nodes[0], f"action-node{number}-up", 1, 2, 3)
        found = action.look()
    assert found.end is not None
    assert found.end.nodes == ("node1", "node2", "node3")
    assert not action.cassandra.down(nodes[:3]), "what counts is the process that was started again"


def test_a_node_that_was_started_again_is_killed_by_its_newest_job(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    nodes[2].statuses |= {"cassandra": JobStatus("exited", 143), "cassandra-restarted": JobStatus("running")}
    acted("kill-node").look()
    assert nodes[2].stopped == ["cassandra-restarted"]


def test_a_node_that_does_not_come_up_again_fails_the_action(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    action = acted("restart", 1)
    action.look()
    nodes[0].statuses["cassandra-restarted"] = JobStatus("exited", 1)
    with pytest.raises(ActionError, match=r"node1 .* ended with exit code 1"):
        action.look()


def test_a_new_node_joins_with_tokens_of_its_own_choice(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    action = acted("add-node")
    action.look()
    new = nodes[3]
    settings = YAML(typ="safe").load(new.read_tail(new.root / "cassandra/conf/cassandra.yaml", max_bytes=1 << 20))
    assert settings["auto_bootstrap"] is True
    assert "initial_token" not in settings
    assert settings["allocate_tokens_for_local_replication_factor"] == 3
    assert settings["seed_provider"][0]["parameters"] == [{"seeds": "127.9.9.1"}]
    assert settings["listen_address"] == "127.9.9.4"
    assert settings["cluster_name"] == "plimsoll 127.9.9.1"
    action.agree(nodes[0], "action-node4-joined", 1, 2, 3, 4, received=5_000)
    end = action.look().end
    assert end is not None
    assert end.nodes == ("node1", "node2", "node3", "node4")
    assert end.streamed_bytes == 5_000


def test_a_new_node_that_was_killed_fails_the_action(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    action = acted("add-node")
    action.look()
    nodes[3].statuses["cassandra"] = JobStatus("exited", 137)
    with pytest.raises(ActionError, match=r"node4 \(127.9.9.4\) ended with signal 9"):
        action.look()


def test_a_ring_that_does_not_become_as_wanted_fails_the_action(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    action = acted("add-node")
    action.look()
    action.end(nodes[0], "action-node4-joined", nodes=[], error="127.9.9.1 sees joining: [127.9.9.4]")
    with pytest.raises(ActionError, match=r"ring failed: 127\.9\.9\.1 sees joining"):
        action.look()


def test_a_replaced_node_is_seen_down_before_a_new_one_takes_its_place_and_is_then_forgotten(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    action = acted("replace-node")
    action.look()
    assert nodes[2].stopped == ["cassandra"]
    assert "cassandra" not in nodes[3].jobs
    action.agree(nodes[0], "action-node3-down", 1, 2)
    action.look()
    assert "-Dcassandra.replace_address_first_boot=127.9.9.3" in nodes[3].jobs["cassandra"].argv
    job = nodes[0].jobs["action-node4-joined"]
    assert (argument(job, "--up"), argument(job, "--gone")) == ("127.9.9.1,127.9.9.2,127.9.9.4", "127.9.9.3")
    action.agree(nodes[0], "action-node4-joined", 1, 2, 4)
    end = action.look().end
    assert end is not None
    assert end.nodes == ("node1", "node2", "node4")
    assert nodes[2].jobs == {}, "it would take its tokens back"


def test_what_replacements_received_is_counted_once(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    """The nodes that see the second victim down tell again what the first new node has received."""
    info = nodes[3].info.model_copy(update={"name": "node5", "address": "127.9.9.5"})
    fifth = ScriptedHost(Path(nodes[3].root).with_name("node5"), info)
    action = acted("replace-node", 2)
    action.request = replace(action.request, spares=[nodes[3], fifth])
    moves = (("node2-down", (1, 3), 0), ("node4-joined", (1, 3, 4), 1000), ("node3-down", (1, 4), 1000))
    action.look()
    for job, up, received in moves:
        action.agree(nodes[0], f"action-{job}", *up, received=received)
        assert action.look().end is None
    action.agree(nodes[0], "action-node5-joined", 1, 4, 5, received=500)
    end = action.look().end
    assert end is not None
    assert end.streamed_bytes == 1500


def test_the_parts_of_a_join_are_read_at_the_begin_of_the_log(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    """However much the node has logged since."""
    action = acted("add-node")
    action.look()
    nodes[3].command = lambda argv: CommandResult(0, LOG if argv[0] == "head" else "", "")
    action.agree(nodes[0], "action-node4-joined", 1, 2, 3, 4)
    end = action.look().end
    assert end is not None
    assert [part.name for part in end.parts] == [f"node4: {part.name}" for part in join_parts(LOG)]


def recorded(status: ActionStatus) -> RecordedAction:
    assert status.end is not None
    return RecordedAction(ActionBegin(action=Action(name="compact"), at=AT - timedelta(seconds=1)), status.end)


def test_a_replacement_takes_no_longer_because_nobody_looks(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    """Its first move takes 18 s, its second one 45 s; nobody looks for a minute in the first, nor at the end."""
    action = acted("replace-node")
    action.look()
    action.agree(nodes[0], "action-node3-down", 1, 2, after_s=18)
    assert action.look_after(67).end is None
    action.agree(nodes[0], "action-node4-joined", 1, 2, 4, after_s=112)
    end = recorded(action.look_after(500))
    assert (end.began_at, end.end.at) == (AT, AT + timedelta(seconds=112))
    assert end.took == "63.0 s (and stood still for 49.0 s, while nobody looked)"


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        ("repair", (("action-node1-repaired", 0, 1), ("action-node2-repaired", 1, 1))),
        ("restart", (("action-node1-up", 0, 3), ("action-node2-up", 0, 3))),
        ("kill-node", (("action-node2-down", 0, 2), ("action-node3-down", 0, 1))),
    ],
)
def test_no_move_is_taken_for_going_on_until_somebody_looks(
    acted: Callable[..., Acted], nodes: list[Any], name: ActionName, jobs: Sequence[tuple[str, int, int]]
) -> None:
    """Each job is of a machine, and of so many nodes of it."""
    action = acted(name, 2)
    action.look()
    told = {"keyspaces": ["mine"], "seconds": 5.0, "received_bytes": 0}
    for (job, machine, count), after_s, at_s in zip(jobs, (10.0, 105.0), (100, 300), strict=True):
        action.end(nodes[machine], job, after_s, nodes=[told] * count, looks=9)
        found = action.look_after(at_s)
    assert recorded(found).took == "15.0 s (and stood still for 90.0 s, while nobody looked)"


def test_the_time_for_which_a_node_has_to_stay_down_is_part_of_the_action(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    action = acted("kill-node", down_for=timedelta(seconds=60))
    action.look()
    nodes[2].statuses["cassandra"] = JobStatus("exited", 137)
    action.agree(nodes[0], "action-node3-down", 1, 2, after_s=20)
    action.look_after(100)
    action.agree(nodes[0], "action-node3-up", 1, 2, 3, after_s=110)
    assert recorded(action.look_after(400)).took == "90.0 s (and stood still for 20.0 s, while nobody looked)"


def test_a_node_is_forgotten_when_the_others_say_so_and_not_when_somebody_looks(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    action = acted("decommission")
    action.look()
    action.agree(nodes[0], "action-node3-gone", 1, 2, after_s=12)
    action.end(nodes[2], "action-node3-left", 42, nodes=[{"mode": "DECOMMISSIONED", "seconds": 41.0}])
    assert recorded(action.look_after(300)).took == "42.0 s"


def test_what_was_so_at_the_first_look_is_told_with_both_bounds(acted: Callable[..., Acted], nodes: list[Any]) -> None:
    """As where nobody asked the nodes until a minute after the kill."""
    action = acted("kill-node")
    action.look()
    action.agree(nodes[0], "action-node3-down", 1, 2, after_s=60, looks=1)
    assert recorded(action.look()).took == "between 0.0 and 60.0 s"

    left = acted("decommission")
    left.look()
    left.end(nodes[2], "action-node3-left", 42, nodes=[{"mode": "DECOMMISSIONED", "seconds": 41.0}])
    left.agree(nodes[0], "action-node3-gone", 1, 2, after_s=90, looks=1)
    assert recorded(left.look()).took == "between 42.0 and 90.0 s"


def test_one_machine_that_asked_late_is_told_between_what_another_one_saw_and_that(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    nodes[1].info = nodes[1].info.model_copy(update={"facts": {"machine": "another"}})
    action = acted("kill-node")
    action.look()
    action.agree(nodes[0], "action-node3-down", 1, after_s=18)
    action.agree(nodes[1], "action-node3-down", 2, after_s=25, looks=1)
    assert recorded(action.look()).took == "between 18.0 and 25.0 s"


def test_a_tool_that_does_not_tell_how_often_it_asked_dates_the_end(
    acted: Callable[..., Acted], nodes: list[Any]
) -> None:
    action = acted("kill-node")
    action.look()
    action.end(nodes[0], "action-node3-down", 15, nodes=[{"received_bytes": 0}] * 2)
    assert recorded(action.look()).took == "15.0 s"


LOG = """\
INFO  [main] 2026-11-26 22:30:00,000 YamlConfigurationLoader.java:93 - Configuration location: file:/x
INFO  [main] 2026-11-26 22:30:26,500 StorageService.java:1619 - JOINING: Starting to bootstrap...
INFO  [Stream-Deserializer] 2026-11-26 22:30:35,000 Stream.java:250 - [Stream #1] All sessions completed
INFO  [main] 2026-11-26 22:30:35,700 Pipeline.java:125 - Starting listening for CQL clients on /127.9.9.4:9042
"""


def test_a_join_has_parts_by_the_lines_of_its_log() -> None:
    assert [(one.name, one.seconds) for one in join_parts(LOG)] == [
        ("start, gossip and fixed waits", 26.5),
        ("streaming", 8.5),
        ("opening to clients", 0.7),
    ]
    assert join_parts("") == ()
    assert [one.name for one in join_parts("\n".join(LOG.splitlines()[:2]))] == ["start, gossip and fixed waits"]
