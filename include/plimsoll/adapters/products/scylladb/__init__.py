"""ScyllaDB."""

from plimsoll.adapters.products.scylladb.adapter import ScyllaDb

__all__ = ["ScyllaDb"]
