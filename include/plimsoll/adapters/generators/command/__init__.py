"""Any load generator, by the commands that a definition gives."""

from plimsoll.adapters.generators.command.adapter import CommandGenerator

__all__ = ["CommandGenerator"]
