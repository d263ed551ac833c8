from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock

from plimsoll.adapters.products.cassandra.node_files import NODE
from plimsoll.adapters.products.nodes.node_state import Patience
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import Job, JobStatus


@pytest.fixture
def started(nodes: list[Any]) -> Any:
    for node in nodes:
        node.start(Job("cassandra", ["java"], timedelta(hours=1)))
    return nodes


@pytest.fixture
def patience(clock: SteppingClock) -> Patience:
    return Patience(clock, clock.now() + timedelta(minutes=5))


def places(nodes: Any) -> list[Any]:
    return [(node, NODE) for node in nodes]


def say(node: Any, text: Any) -> None:
    node.write(node.root / "cassandra/logs/system.log", f"{text}\n")


def test_it_returns_when_every_node_has_said_it(started: Any, patience: Patience, clock: SteppingClock) -> None:
    for node in started:
        say(node, "INFO Startup complete")
    patience.await_line(places(started), "Startup complete")
    assert clock.naps == 0


def test_a_node_that_ends_fails_at_once_with_its_words(started: Any, patience: Patience, clock: SteppingClock) -> None:
    started[1].write(started[1].root / "jobs/cassandra.log", "Unrecognized VM option 'Foo'\n")
    started[1].statuses["cassandra"] = JobStatus("exited", 1)
    with pytest.raises(DeployError) as failure:
        patience.await_line(places(started), "Startup complete")
    assert clock.naps == 0
    assert failure.value.where == "cassandra on node2 (127.9.9.2)"
    assert "ended with exit code 1" in failure.value.what
    assert "Unrecognized VM option 'Foo'" in failure.value.what
    assert "jvm" in failure.value.mend
    assert failure.value.what.splitlines()[1] == "Unrecognized VM option 'Foo'"


def test_a_node_that_ended_after_it_said_it_is_no_node(started: Any, patience: Patience) -> None:
    for node in started:
        say(node, "INFO Startup complete")
    started[0].statuses["cassandra"] = JobStatus("exited", None)
    with pytest.raises(DeployError, match="was killed before"):
        patience.await_line(places(started), "Startup complete")


def test_after_the_deadline_the_first_late_node_is_named(
    started: Any, patience: Patience, clock: SteppingClock
) -> None:
    say(started[0], "INFO Startup complete")
    say(started[1], "INFO still gossiping")
    with pytest.raises(DeployError) as failure:
        patience.await_line(places(started), "Startup complete")
    assert clock.now() >= patience.until
    assert failure.value.where == "cassandra on node2 (127.9.9.2)"
    assert "is running but was not up at 12:05:00 UTC" in failure.value.what
    assert "still gossiping" in failure.value.what


def test_a_node_that_was_killed_without_a_word_may_have_had_no_memory(started: Any, patience: Patience) -> None:
    started[0].statuses["cassandra"] = JobStatus("exited", 137)
    with pytest.raises(DeployError) as failure:
        patience.await_line(places(started), "Startup complete")
    assert "ended with signal 9 before it was up:\nit said nothing" in failure.value.what
    assert "out of memory" in failure.value.mend


def test_a_node_that_ends_for_no_known_reason_is_given_no_advice(started: Any, patience: Patience) -> None:
    say(started[0], "ERROR [main] something that nobody knows")
    started[0].statuses["cassandra"] = JobStatus("exited", 100)
    with pytest.raises(DeployError) as failure:
        patience.await_line(places(started), "Startup complete")
    assert failure.value.mend == ""
