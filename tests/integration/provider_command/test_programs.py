"""Hosts that real programs make as real sshd processes; and programs that hang, lie, print garbage or lose hosts."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from tests.support.command_cloud.site import CommandSite, command_site
from tests.support.processes import until

from plimsoll.adapters.providers.command import CommandProvider
from plimsoll.domain.hosts.cluster import ClusterId, PartlySeen
from plimsoll.domain.text.errors import ProviderError

CELL = ClusterId(campaign_id="by-programs", name="cell/1")
SECOND = timedelta(seconds=5)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[CommandSite]:
    with command_site(tmp_path) as made:
        yield made


def servers(site: CommandSite) -> list[int]:
    """Return the processes of the cloud's hosts."""
    return [process.pid for process in psutil.process_iter() if str(site.folder) in " ".join(_line(process))]


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def require_whole_life(provider: CommandProvider, site: CommandSite) -> None:
    """Assert that hosts are made once, used, listed and ended, with every process."""
    cluster = provider.ensure(site.request(CELL))
    assert [host.name for host in cluster.hosts] == ["node1", "load"]
    assert provider.ensure(site.request(CELL)).hosts == cluster.hosts
    assert len(servers(site)) == 2
    host = provider.host(cluster, cluster.nodes[0])
    assert host.run(["echo", "here"], timeout=SECOND).stdout == "here\n"
    assert [found.id for found in provider.clusters()] == [CELL]
    provider.destroy(CELL)
    assert servers(site) == []
    assert provider.clusters() == []


def test_hosts_are_made_used_listed_and_ended(site: CommandSite) -> None:
    provider = site.bound()
    require_whole_life(provider, site)
    [launch] = provider.launches.of(CELL)
    assert [(host.usd_per_hour, host.until is not None) for host in launch.hosts or ()] == [(0.25, True)] * 2


def test_a_launch_that_hangs_is_killed_with_its_group_and_leaves_nothing(site: CommandSite) -> None:
    request = site.request(CELL, launch="hangs")
    hasty = request.model_copy(update={"options": {**request.options, "launch_within": "3s"}})
    with pytest.raises(ProviderError, match=r"faulty-cloud.* did not end within 0:00:03, and was killed"):
        site.bound(launch="hangs").ensure(hasty)
    until(lambda: not [p for p in psutil.process_iter() if _line(p)[-1:] == ["86413"]], "the end of its child")
    assert servers(site) == []


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("garbage", "is no JSON: 'Launching your hosts, please wait"),
        ("floods", "printed more than 8 MiB"),
        ("loses", "load, node1 were asked for, and load printed"),
        ("forgets", "load, node1 were asked for, and none printed"),
        ("wrong-key", "printed node1"),
        ("idle", "is no JSON: nothing"),
    ],
)
def test_what_a_launch_says_wrong_is_named_and_nothing_is_left(site: CommandSite, fault: str, why: str) -> None:
    with pytest.raises(ProviderError) as raised:
        site.bound(launch=fault).ensure(site.request(CELL, launch=fault))
    assert why in raised.value.what
    assert servers(site) == []


def test_a_host_with_another_key_is_not_used(site: CommandSite) -> None:
    faults = {"launch": "wrong-key", "list": "wrong-key"}
    with pytest.raises(ProviderError, match="its host key is not the expected one"):
        site.bound(**faults).ensure(site.request(CELL, **faults))
    site.bound().destroy(CELL)
    assert servers(site) == []


def test_a_list_that_loses_a_host_is_no_whole_cluster(site: CommandSite) -> None:
    site.bound().ensure(site.request(CELL))
    lossy = site.bound(list="loses")
    assert lossy.find(CELL) is None
    assert "not listed any more" in lossy.why_gone(CELL)
    lossy.destroy(CELL)
    assert servers(site) == []


def test_a_list_that_prints_garbage_hides_nothing(site: CommandSite) -> None:
    site.bound().ensure(site.request(CELL))
    with pytest.raises(PartlySeen, match="no JSON"):
        site.bound(list="garbage").clusters()


def test_an_end_that_does_nothing_is_found_out(site: CommandSite) -> None:
    site.bound().ensure(site.request(CELL))
    with pytest.raises(ProviderError, match="`list` still shows"):
        site.bound(end="idle").destroy(CELL)
    assert len(servers(site)) == 2


def test_no_program_outside_the_folder_runs(site: CommandSite) -> None:
    programs = site.provider.programs
    for name in ("../ssh/sshd.py", "/bin/sh", ".", "site.py", "not-there"):
        assert programs.problem(name)
        with pytest.raises(ProviderError, match="program"):
            programs.run([name], b"{}", SECOND)
