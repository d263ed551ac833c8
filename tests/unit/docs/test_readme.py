"""What README.md names exists: definitions, commands, files."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from plimsoll.cli import cli

CHECKOUT = Path(__file__).parents[3]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
SHIPPED = sorted(path.stem for path in (CHECKOUT / "include" / "campaigns").glob("*.yaml"))


def test_every_key_of_the_table_is_a_definition_that_plan_knows_and_every_other_way_round() -> None:
    assert (
        sorted([*re.findall(r"^\| `([a-z0-9-]+)` \|", README, re.MULTILINE), "demo", "local-actions", "local-n-1"])
        == SHIPPED
    )


@pytest.mark.parametrize("name", sorted(set(re.findall(r"^    plimsoll ([a-z]+)", README, re.MULTILINE))))
def test_every_command_exists(name: str) -> None:
    assert name in getattr(get_command(cli), "commands")  # noqa: B009  # only groups have it


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)[^)]*\)", README))))
def test_every_file_that_is_linked_to_is_there(target: str) -> None:
    assert (CHECKOUT / target).exists()
