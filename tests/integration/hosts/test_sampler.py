"""The sampler on either kind of host."""

from datetime import timedelta
from typing import Any

import pytest
from tests.support.processes import until

from plimsoll.adapters.hosts.sampler import ProcSampler, sample
from plimsoll.domain.keys.host_bounds import HostActivity
from plimsoll.ports.host import Host


@pytest.fixture
def tags(tags: dict[Any, Any]) -> dict[Any, Any]:
    """Provide the tags of a host of a cluster."""
    return {**tags, sample.TAG: "campaign/g1-001k-r1/1"}


def test_it_writes_its_columns_and_is_started_once(host: Host) -> None:
    sampler = ProcSampler()
    for _ in range(2):
        sampler.start(host, timedelta(minutes=1))
    (samples,) = until(lambda: sampler.files(host), "the file")
    whole = until(lambda: host.read_tail(samples, max_bytes=10_000).count("\n") > 1, "a line")
    lines = host.read_tail(samples, max_bytes=10_000).splitlines()
    assert whole
    assert lines[0] == ",".join(sample.COLUMNS)
    assert len(lines[1].split(",")) == len(sample.COLUMNS)
    assert float(lines[1].split(",")[0]) > 1e9


def test_it_tells_what_programs_take_that_are_none_of_the_clusters(host: Host) -> None:
    sampler = ProcSampler()
    sampler.start(host, timedelta(minutes=1))
    (samples,) = until(lambda: sampler.files(host), "the file")

    def others() -> str:
        lines = host.read_tail(samples, max_bytes=10_000).split("\n")[1:-1]
        return "".join(line.split(",")[sample.COLUMNS.index("cpu_others")] for line in lines)

    assert until(others, "a line with a share of other programs")


def test_a_look_tells_what_a_host_is_busy_with_and_leaves_nothing_running(host: Host) -> None:
    sampler = ProcSampler()

    def look() -> HostActivity | None:
        """Return None where figures that were read one after the other contradict each other, as on a busy machine."""
        found = sampler.look(host)
        assert found.memory_available_bytes > 0
        return found if found.foreign_cpu is not None else None

    assert until(look, "a look that knows what other programs take")
    assert host.status("sampler").state == "missing"
