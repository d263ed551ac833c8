"""The check of a provider says what a host that lives on is ended by, and notes no place that can't be used."""

from datetime import datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.fakes.clock import BEGAN, SteppingClock

from plimsoll.domain.hosts.cluster import Cluster, ClusterRequest, HostInfo
from plimsoll.domain.text.errors import Problem, ProviderError
from plimsoll.ports.host import CommandResult
from plimsoll.services.hosts.provider_check import Looked, check_provider

SPEC: Any = SimpleNamespace(options={})


class Clinging:
    """A provider whose host can't be ended. `faults`: what its options lack."""

    def __init__(self, *faults: Problem) -> None:
        self.faults, self.living = faults, list[Cluster]()

    def check(self, _: object) -> tuple[Problem, ...]:
        return self.faults

    def ensure(self, request: ClusterRequest) -> Cluster:
        info = HostInfo(name="load", role="load", address="10.0.0.1", usd_per_hour=1.0)
        times: dict[str, datetime] = {"created_at": BEGAN, "expires_at": request.expires_at}
        self.living = [Cluster(id=request.id, owner="me", provider="command", hosts=(info,), **times)]
        return self.living[0]

    def find(self, _: object) -> Cluster:
        return self.living[0]

    def clusters(self) -> list[Cluster]:
        return self.living

    def host(self, *_: object) -> Any:
        return SimpleNamespace(run=lambda *_, **__: CommandResult(0, "Python 3.11", ""))

    def destroy(self, _: object) -> None:
        raise ProviderError("my-cloud end did not end", where="my-cloud end", mend="see what it waits for")


def looks(provider: Clinging, noted: list[str]) -> list[Looked]:
    return list(check_provider(cast(Any, provider), SPEC, "me", SteppingClock(), lambda: noted.append("place")))


def test_a_host_that_could_not_be_ended_is_named_with_the_command_that_ends_it() -> None:
    provider, noted = Clinging(), list[str]()
    last = looks(provider, noted)[-1]
    assert last.mend == (
        f"see what it waits for; should the host live on: `plimsoll clusters destroy {provider.living[0].id}`, or the "
        "reaper within an hour"
    )
    assert noted == ["place"]


@pytest.mark.parametrize("mend", ["", "let it answer"])
def test_options_that_can_not_be_used_are_no_place_to_look_for_hosts(mend: str) -> None:
    provider, noted = Clinging(Problem("provider.options.list", "hangs", mend)), list[str]()
    assert looks(provider, noted) == [Looked("provider.options.list: hangs", mend or "correct it")]
    assert (noted, provider.living) == ([], [])
