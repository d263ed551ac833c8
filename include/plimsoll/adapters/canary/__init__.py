"""The performance check of hosts before their load."""

from plimsoll.adapters.canary.adapter import ScriptCanary

__all__ = ["ScriptCanary"]
