"""The load generator latte, where its program is installed on the load host."""

from plimsoll.adapters.generators.latte.adapter import Latte

__all__ = ["Latte"]
