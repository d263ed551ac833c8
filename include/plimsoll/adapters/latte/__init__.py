"""latte, where its binary is on the load host."""

from plimsoll.adapters.latte.adapter import Latte

__all__ = ["Latte"]
