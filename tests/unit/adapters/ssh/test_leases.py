"""Leases that hosts answer."""

import pytest

from plimsoll.adapters.providers.ssh.member import parse_held
from plimsoll.domain.text.errors import HostError


@pytest.mark.parametrize("lease", ["text", {"key": 7}, {"key": "a", "cluster": {"hosts": 1}}])
def test_a_lease_that_nobody_writes_is_an_error_with_the_host_and_its_remedy(lease: object) -> None:
    with pytest.raises(HostError, match=r"lease\.json is no lease of Plimsoll(.|\n)*remove the file") as error:
        parse_held({"lease": lease, "now": 0.0}, "host node1")
    assert error.value.where == "host node1"
