"""The test cloud with hosts, as every test of this folder uses it."""

from collections.abc import Iterator

import pytest
from tests.cloud.cloud import Cloud, running_cloud
from tests.support.suite.requirements import require_namespaces


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    """Provide one with hosts in namespaces, in real time."""
    require_namespaces()
    with running_cloud("namespaces") as cloud:
        yield cloud
