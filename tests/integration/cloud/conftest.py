"""Test clouds with and without hosts, a client of EC2, and an ssh command."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cloud.cloud import Cloud, running_cloud
from tests.support.cloud.clients import Aws
from tests.support.ssh.command import Ssh, keygen
from tests.support.suite.requirements import require_namespaces


@pytest.fixture
def instant() -> Iterator[Cloud]:
    """Without hosts, with a time that only tests move."""
    with running_cloud("instant", manual=True) as cloud:
        yield cloud


@pytest.fixture
def ec2(instant: Cloud) -> Any:
    """EC2 of the instant cloud."""
    return Aws(instant.endpoint).client("ec2")


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    """With hosts in namespaces, in real time."""
    require_namespaces()
    with running_cloud("namespaces") as cloud:
        yield cloud


@pytest.fixture
def ssh(tmp_path: Path) -> Ssh:
    """A new key, no host known."""
    return Ssh(keygen(tmp_path / "id"), tmp_path / "known_hosts")
