"""What hosts can do, measured on them: that there are figures, never how large they are."""

from pathlib import Path

import pytest

from plimsoll.adapters.canary import ScriptCanary
from plimsoll.adapters.onhost import canary
from plimsoll.domain.errors import HostError


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script with less to do, and less patience."""
    quick = Path(canary.__file__).read_text()
    for usual, less in (("1.0, 5.0, 1.0", "0.1, 1.0, 0.1"), ("256 << 20", "4 << 20"), ("_S = 20.0", "_S = 5.0")):
        assert quick.count(usual) == 1
        quick = quick.replace(usual, less)
    (tmp_path / "quick.py").write_text(quick)
    monkeypatch.setattr(canary, "__file__", str(tmp_path / "quick.py"))


def test_every_host_has_figures_and_nothing_stays(host, script):
    [found] = ScriptCanary().examine([host])
    figures = found.model_dump()
    assert figures.pop("host") == "node1"
    assert len(figures) == 4
    assert all(figure > 0 for figure in figures.values())
    assert [path.name for path in host.files(host.root / "canary")] == ["canary.py"]


def test_a_host_that_nothing_reaches_is_named(ssh_host, script, monkeypatch):
    monkeypatch.setattr(type(ssh_host), "free_port", lambda _: 12345)
    ssh_host.info = ssh_host.info.model_copy(update={"address": "192.0.2.1"})
    with pytest.raises(HostError, match=r"host node1[\s\S]*exit code 1"):
        ScriptCanary().examine([ssh_host])
