"""A database that somebody else runs: nothing of it is deployed, and little is known of it."""

from plimsoll.adapters.products.external.adapter import ExternalCql

__all__ = ["ExternalCql"]
