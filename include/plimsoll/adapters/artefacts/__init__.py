"""JDKs, databases and the load generator: fetched, verified by checksum, built, and kept for later."""

from plimsoll.adapters.artefacts.jdks import Jdk
from plimsoll.adapters.artefacts.source import Artefacts

__all__ = ["Artefacts", "Jdk"]
