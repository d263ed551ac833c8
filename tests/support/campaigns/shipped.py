"""The definitions that come with Plimsoll."""

from plimsoll.bootstrap import definition_folder, load_definition
from plimsoll.domain.definition.definition import Definition
from plimsoll.settings import Settings


def shipped(name: str) -> Definition:
    """Return the shipped definition of that name."""
    return load_definition(Settings(), name)


def shipped_for_this_machine() -> list[Definition]:
    """Return the shipped definitions whose clusters run on one machine."""
    every = [shipped(name) for name in definition_folder(Settings()).names()]
    return [definition for definition in every if definition.provider.name == "local"]
