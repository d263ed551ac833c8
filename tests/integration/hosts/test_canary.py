"""What hosts can do, measured on them: that there are figures, never how large they are."""

import pytest
from tests.support.ssh.quick_canary import QUICK

from plimsoll.adapters.hosts.canary import ScriptCanary
from plimsoll.adapters.providers.ssh import SshHost
from plimsoll.domain.text.errors import HostError
from plimsoll.ports.host import Host


def test_every_host_has_figures_and_nothing_stays(host: Host) -> None:
    [found] = ScriptCanary(QUICK).examine([host])
    figures = found.model_dump()
    assert figures.pop("host") == "node1"
    assert len(figures) == 4
    assert all(figure > 0 for figure in figures.values())
    assert [path.name for path in host.files(host.root / "canary")] == ["canary.py"]


def test_a_host_that_nothing_reaches_is_named(ssh_host: SshHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(ssh_host), "free_port", lambda _: 12345)
    ssh_host.info = ssh_host.info.model_copy(update={"address": "192.0.2.1"})
    with pytest.raises(HostError, match=r"host node1[\s\S]*exit code 1"):
        ScriptCanary(QUICK._replace(patience_s=2.0)).examine([ssh_host])
