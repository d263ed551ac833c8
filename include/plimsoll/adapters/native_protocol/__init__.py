"""A client of CQL's native protocol for the few statements that Plimsoll itself sends to a database of somebody else.

The load generator has a driver, in Java. This one starts at once, wherever Plimsoll runs, and says of every fault what
it is.
"""

from plimsoll.adapters.native_protocol.session import DatabaseRefused, Session, tls_context

__all__ = ["DatabaseRefused", "Session", "tls_context"]
