"""Any database, by the commands that a definition gives."""

from plimsoll.adapters.products.command.adapter import CommandDatabase

__all__ = ["CommandDatabase"]
