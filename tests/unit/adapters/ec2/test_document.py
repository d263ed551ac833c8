"""The table of options in docs/guides/aws.md is complete."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.providers.ec2.options import Ec2Options

DOCUMENT = (Path(__file__).parents[4] / "docs" / "guides" / "aws.md").read_text()


@pytest.mark.parametrize("name", Ec2Options.model_fields)
def test_every_option_is_described(name: Any) -> None:
    assert f"`{name}`" in DOCUMENT
