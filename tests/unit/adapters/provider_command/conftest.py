from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.fakes.clock import SteppingClock
from tests.unit.adapters.provider_command.cloud_in_memory import AnswersAtOnce, CloudInMemory, Keys, OverSsh, Records

from plimsoll.adapters.providers.command import CommandProvider
from plimsoll.adapters.providers.command.options import CommandOptions
from plimsoll.ports.provider import Places

OPTIONS: dict[str, Any] = {
    "launch": ["launch"],
    "list": ["list"],
    "end": ["end"],
    "options": {"size": "small"},
    "prices": {"node": 2, "load": 1},
}
PATIENCE = CommandOptions.model_fields["patience"].default


@pytest.fixture(scope="session")
def private_key() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def cloud() -> CloudInMemory:
    return CloudInMemory()


@pytest.fixture
def records() -> Records:
    return Records()


@pytest.fixture
def provider(cloud: CloudInMemory, clock: SteppingClock, records: Records, private_key: str) -> CommandProvider:
    return CommandProvider(
        programs=cloud,
        ssh=OverSsh(),
        reach=AnswersAtOnce(),
        secrets=Keys(private_key),
        clock=clock,
        store="lab:/store",
        log=lambda _: None,
        launches=records,
        places=Places((OPTIONS,)),
    )
