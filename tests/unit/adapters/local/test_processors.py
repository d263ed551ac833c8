import errno
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plimsoll.adapters.providers.local.processors import Groups, limits
from plimsoll.domain.hosts.cluster import PROCESSORS, Cluster, ClusterId, HostInfo


def cluster() -> Cluster:
    hosts = (
        HostInfo(name="node1", role="node", address="127.17.0.1"),
        HostInfo(name="load", role="load", address="127.17.0.10"),
    )
    at = datetime(2026, 1, 1, tzinfo=UTC)
    own = ClusterId(campaign_id="demo-1", name="g1-040k-r1/1")
    return Cluster(id=own, owner="run-7", provider="local", hosts=hosts, created_at=at, expires_at=at)


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (True, {"cpu.shares": "110", "cpu.cfs_period_us": "20000", "cpu.cfs_quota_us": "9000"}),
        (False, {"cpu.weight.nice": "10", "cpu.max": "9000 20000"}),
    ],
)
def test_a_share_is_a_part_of_each_period_in_both_versions_of_groups(first: bool, expected: dict[str, str]) -> None:
    written = limits(0.45, is_first_version=first)
    assert written == expected
    assert list(written)[-1] in {"cpu.cfs_quota_us", "cpu.max"}, "the quota must fit the period that is there"


@pytest.mark.parametrize("controllers", ["", "cpu memory"])
def test_without_the_kernels_files_nothing_is_granted_and_nothing_is_left(tmp_path: Path, controllers: str) -> None:
    (tmp_path / "cpu").mkdir()
    if controllers:
        (tmp_path / "cgroup.controllers").write_text(controllers)
    groups = Groups(tmp_path / "claims", tmp_path)
    assert groups.granted(cluster(), 0.5) == cluster()
    assert "No such file" in groups.obstacle()
    assert not list(tmp_path.rglob("plimsoll-*"))


@pytest.mark.parametrize(("error", "is_told"), [(errno.EROFS, False), (errno.ENOSPC, True)])
def test_a_machine_that_makes_no_groups_is_no_error_and_one_that_fails_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int, *, is_told: bool
) -> None:
    def refused(*_: object) -> None:
        raise OSError(error, "refused")

    monkeypatch.setattr(Groups, "_make", refused)
    groups = Groups(tmp_path / "claims", tmp_path)
    if is_told:
        with pytest.raises(OSError, match="refused"):
            groups.granted(cluster(), 0.5)
    else:
        assert groups.granted(cluster(), 0.5) == cluster()


def test_a_container_s_groups_are_not_divided(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu")
    (tmp_path / "cgroup.type").write_text("domain")
    assert "a container's control groups can't be divided" in Groups(tmp_path / "claims", tmp_path).obstacle()


def test_without_being_asked_for_nothing_is_made(tmp_path: Path) -> None:
    asked_of_nobody = Groups(tmp_path / "claims", tmp_path / "missing").granted(cluster(), None)
    assert not any(PROCESSORS in host.facts for host in asked_of_nobody.hosts)


def test_groups_of_a_subnet_go_and_those_of_others_stay(tmp_path: Path) -> None:
    """Folders stand for groups here, which the kernel would make."""
    (tmp_path / "cpu").mkdir()
    groups, of_another = Groups(tmp_path / "claims", tmp_path), Groups(tmp_path / "other", tmp_path)
    for address in ("127.17.0.1", "127.17.0.2", "127.18.0.1"):
        groups.members(address).parent.mkdir()
    of_another.members("127.19.0.1").parent.mkdir()
    assert groups.remove({"127.17.0"}) == []
    groups.remove_others({"127.18.0"})
    left = {groups.members("127.18.0.1").parent, of_another.members("127.19.0.1").parent}
    assert set((tmp_path / "cpu").iterdir()) == left
    groups.members("127.18.0.1").touch()
    [obstacle] = groups.remove({"127.18.0"})
    assert "not empty" in obstacle
