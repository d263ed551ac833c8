from datetime import UTC, datetime

import pytest
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.text.errors import SecretError
from plimsoll.services.campaign.open.creation import open_campaign
from plimsoll.services.campaign.open.request import Request
from plimsoll_airflow.wiring.core import toolkit

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_a_connection_that_airflow_does_not_have_is_named_before_anything_starts(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {
        "connection": "plimsoll_nonesuch",
        "region": "us-east-1",
        "zones": ["us-east-1a"],
        "security_group": "plimsoll",
        "image": "ami-0123456789abcdef0",
        "instance_types": {"node": "r5d.2xlarge", "load": "c5.2xlarge"},
    }
    provider = ProviderChoice(name="ec2", options=options)
    azul = instant_definition("azul").model_copy(update={"provider": provider})
    monkeypatch.setenv("PLIMSOLL_TOOLKIT", "plimsoll.bootstrap:full_toolkit")

    with pytest.raises(SecretError, match=r"connection 'plimsoll_nonesuch': there is no such connection") as refused:
        open_campaign(toolkit(), azul, Request(), NOON)
    assert "Admin → Connections" in refused.value.mend
    assert installation.toolkit.store.folders("") == ()
