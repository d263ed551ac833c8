"""The performance check of hosts before their load."""

from plimsoll.adapters.hosts.canary.adapter import ScriptCanary

__all__ = ["ScriptCanary"]
